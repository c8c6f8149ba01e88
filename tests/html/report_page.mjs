// Opens HTML reports in headless Chromium as a reader would: node report_page.mjs MODULES CHROMIUM SHOTS REPORT...
// MODULES is the folder node_modules with playwright-core. SHOTS takes the prints and, with ARCHSIM_SCREENSHOTS set, pictures
// of every report for people to look at: drawing whole pages takes longer than all that is checked.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkAccess } from './access.mjs';

const [modules, chromium, shots, ...reports] = process.argv.slice(2);
const playwright = createRequire(path.join(path.resolve(modules), 'x.js'))('playwright-core');
// Every page is seen once: one process for all, and no script is worth optimising.
const thrifty = ['--process-per-site', '--disable-gpu', '--js-flags=--min-semi-space-size=64 --no-turbofan --no-maglev'];
const browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox', ...thrifty] });

const axe = readFileSync(path.join(path.resolve(modules), 'axe-core', 'axe.min.js'), 'utf8');

// Nothing may stick out of a narrow window but what scrolls inside itself.
async function checkNarrow(page) {
  const wide = await page.evaluate(() => [...document.querySelectorAll('main *')]
    .filter(node => !node.closest('.scroll, .said, canvas') && node.getBoundingClientRect().right > innerWidth + 1)
    .map(node => node.outerHTML.slice(0, 100)));
  assert.deepEqual(wide.slice(0, 3), [], 'wider than the window');
}

// On a telephone what matters most stays in sight: columns that matter less leave until a table fits, and long heat maps fold.
// Words are words, and bars are drawn.
async function checkColumns(page) {
  const found = await page.evaluate(() => ({
    scrolls: [...document.querySelectorAll('.scroll > table[id]')].filter(table => table.parentElement.scrollWidth > table.parentElement.clientWidth + 1).map(table => table.caption?.textContent),
    long: [...document.querySelectorAll('table.heat')].filter(table => table.tBodies[0].rows.length > 40 && !table.closest('details.fold')).length,
    said: [...document.querySelectorAll('td')].map(cell => cell.textContent).filter(text => /[-+]\||\|[-+]|does_not_fit/.test(text)),
  }));
  assert.deepEqual(found, { scrolls: [], long: 0, said: [] });
}

// A wide window shows a table whole, or says which columns it leaves out.
async function checkWide(page) {
  const found = await page.evaluate(() => [...document.querySelectorAll('.scroll > table[id]')]
    .filter(table => table.parentElement.scrollWidth > table.parentElement.clientWidth + 1)
    .map(table => table.caption?.textContent ?? table.id));
  assert.deepEqual(found, [], 'tables that scroll sideways in a wide window');
  const silent = await page.evaluate(() => [...document.querySelectorAll('.scroll > table[id]')]
    .filter(table => [...table.tHead.rows[0].cells].some(head => head.hidden) && !table.parentElement.nextElementSibling?.matches('.left-out'))
    .map(table => table.id));
  assert.deepEqual(silent, [], 'columns that are left out in silence');
}

// Names beside bars keep apart: each has the lines that it takes.
async function checkBarNames(page) {
  const close = await page.evaluate(() => [...document.querySelectorAll('figure.chart canvas')].flatMap(canvas => {
    const { scales: { y }, options } = Chart.getChart(canvas);
    if (options.indexAxis !== 'y' || y.ticks.length < 2) return [];
    const lines = Math.max(...y.ticks.map(tick => [tick.label].flat().length));
    const font = options.font?.size ?? Chart.defaults.font.size, between = Math.abs(y.getPixelForTick(1) - y.getPixelForTick(0));
    return between < lines * font * 1.1 ? [`${canvas.closest('figure').querySelector('figcaption').textContent}: ${lines} lines in ${between} px`] : [];
  }));
  assert.deepEqual(close, [], 'names of bars that overlap');
}

// Few questions for much: every one of the driver's costs more than what it asks.
async function checkCharts(page) {
  for (const figure of await page.locator('figure.chart').elementHandles()) {
    const { title, painted, mark } = await figure.evaluate(figure => {
      const canvas = figure.querySelector('canvas');
      const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      let count = 0;
      for (let i = 3; i < pixels.length; i += 4) count += pixels[i] > 0;
      // The mark nearest to nothing else: hovering its centre shows its text.
      const chart = Chart.getChart(canvas);
      const set = chart.data.datasets.findIndex(s => s.data.length > 0 && s.pointRadius !== 0 || s.fill);
      canvas.scrollIntoView({ block: 'center' });
      const at = canvas.getBoundingClientRect(), centre = set < 0 ? null : chart.getDatasetMeta(set).data.at(-1).getCenterPoint();
      return {
        title: figure.querySelector('figcaption').textContent,
        painted: count / (canvas.width * canvas.height),
        mark: centre && { x: at.x + centre.x, y: at.y + centre.y },
      };
    });
    assert(painted > 0.01, `${title}: an empty picture`);
    assert(mark, `${title}: nothing to hover`);
    await page.mouse.move(mark.x, mark.y);
    const tip = await figure.evaluate(async figure => {
      const canvas = figure.querySelector('canvas'), { tooltip } = Chart.getChart(canvas);
      for (let frame = 0; frame < 100 && !tooltip.opacity; frame++) await new Promise(requestAnimationFrame);
      canvas.focus();
      return { shown: tooltip.opacity, text: tooltip.body?.flatMap(b => b.lines).join(' ') };
    });
    assert(tip.shown > 0 && tip.text.length > 3, `${title}: no tooltip`);

    await page.keyboard.press('ArrowRight');
    const first = await figure.evaluate(figure => figure.querySelector('.said').textContent);
    assert(first.length > 3, `${title}: arrow keys say nothing`);

    await (await figure.$('summary')).click();
    const rows = await figure.evaluate(async figure => {
      const details = figure.querySelector('details'), rows = () => details.querySelectorAll('tbody tr').length;
      for (let frame = 0; frame < 100 && !rows(); frame++) await new Promise(requestAnimationFrame); // the event of opening comes later
      const shown = details.open ? rows() : 0;
      details.open = false;
      return shown;
    });
    assert(rows > 0, `${title}: no data`);
  }
}

async function checkTables(page) {
  const input = page.locator('.filter').first();
  if (await input.count() === 0) return;
  const table = page.locator('#' + await input.getAttribute('aria-controls'));
  const numeric = await table.locator('thead th').evaluateAll((heads, body) => heads.findIndex((_, i) =>
    [...heads[0].closest('table').tBodies[0].rows].filter(row => row.cells[i].dataset.value !== undefined).length > 2));
  assert(numeric >= 0, 'a table without numbers');
  const values = () => table.locator('tbody tr').evaluateAll((rows, i) =>
    rows.map(row => row.cells[i].dataset.value).filter(v => v !== undefined).map(Number), numeric);
  const button = table.locator('thead th').nth(numeric).locator('button');
  await button.click();
  const up = await values();
  assert.deepEqual(up, [...up].sort((a, b) => a - b), 'ascending order');
  assert.equal(await table.locator('thead th').nth(numeric).getAttribute('aria-sort'), 'ascending');
  await button.focus();
  await page.keyboard.press('Enter');
  const down = await values();
  assert.deepEqual(down, [...down].sort((a, b) => b - a), 'descending order, by keyboard');

  const visible = () => table.locator('tbody tr').evaluateAll(rows => rows.filter(row => !row.hidden).map(row => row.textContent));
  const all = (await visible()).length;
  const word = (await table.locator('tbody tr').first().locator('td').first().textContent()).toLowerCase();
  await input.fill(word);
  const left = await visible();
  assert(left.length > 0 && left.every(text => text.toLowerCase().includes(word.split(/\s+/)[0])), `filter by "${word}"`);
  const heading = (await table.locator('thead th').nth(numeric).textContent()).toLowerCase().split(' ')[0];
  await input.fill(`${heading}<-1e30`);
  assert.equal((await visible()).length, 0, 'a condition that no row meets');
  await input.fill('');
  assert.equal((await visible()).length, all, 'an empty filter');
}

async function checkDetails(page) {
  const button = page.locator('td button').first();
  if (await button.count() === 0) return;
  await button.click();
  const dialog = page.locator('#detail');
  assert(await dialog.isVisible(), 'the sources of a number');
  assert((await dialog.locator('p').textContent()).length > 10);
  await page.keyboard.press('Escape');
  assert(!(await dialog.isVisible()), 'Escape closes');
}

// A device that is switched off leaves tables and charts, and comes back.
async function checkDevices(page) {
  const boxes = page.locator('.devices input');
  if (await boxes.count() === 0) return;
  const rows = () => page.locator('th[data-devices]').first().evaluate(head =>
    [...head.closest('table').tBodies[0].rows].filter(row => row.getClientRects().length > 0).length);
  const marks = () => page.evaluate(() => [...document.querySelectorAll('figure.chart canvas')].reduce((sum, canvas) =>
    sum + Chart.getChart(canvas).data.datasets.reduce((all, set) => all + set.data.length, 0), 0));
  const before = [await rows(), await marks()];
  await boxes.first().uncheck();
  const without = [await rows(), await marks()];
  assert(without[0] < before[0], 'a device that is off leaves the table');
  assert(without[1] < before[1] || before[1] === 0, 'and the charts');
  await boxes.first().check();
  assert.deepEqual([await rows(), await marks()], before, 'and comes back');
}

const picture = (page, name) => process.env.ARCHSIM_SCREENSHOTS
  ? page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true }) : null;

async function check(report) {
  const name = path.basename(report, '.html');
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const problems = [], foreign = [];
  page.on('console', message => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', error => problems.push(String(error)));
  page.on('request', request => request.url().startsWith('file:') || foreign.push(request.url()));
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(pathToFileURL(report).href);
  await checkTables(page);
  await checkDetails(page);
  await checkCharts(page);
  await checkDevices(page);
  await checkWide(page);
  await checkBarNames(page);
  await checkAccess(page, axe, 'light');
  await page.mouse.move(0, 0);
  await picture(page, `${name}-light`);
  const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), light, 'dark mode');
  await checkAccess(page, axe, 'dark', 'colours');
  await picture(page, `${name}-dark`);
  await page.setViewportSize({ width: 420, height: 900 });
  // A page hears of its new width when it is drawn next.
  await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  await checkNarrow(page);
  await checkColumns(page);
  await checkBarNames(page);
  await checkAccess(page, axe, 'narrow', 'layout');
  await picture(page, `${name}-narrow-dark`);
  await page.emulateMedia({ colorScheme: 'light' });
  await picture(page, `${name}-narrow-light`);
  const paper = await page.pdf({ path: path.join(shots, `${name}.pdf`) });
  assert(paper.length > 10000, 'a print of some size');
  assert.deepEqual(problems, [], 'console errors');
  assert.deepEqual(foreign, [], 'requests to elsewhere');
  console.log(`${name}: ${await page.locator('figure.chart').count()} charts, ${await page.locator('table').count()} tables`);
  await page.close();
}

// Several at a time: a page that waits for a frame or an event leaves the processor to the others.
const waiting = [...reports];
await Promise.all(Array.from({ length: 3 }, async () => {
  for (let report; (report = waiting.shift());) await check(report);
}));
await browser.close();
