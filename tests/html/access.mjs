// What axe-core finds that a reader would stumble over, looked at once where it can be seen once: rows of a table that are
// alike in everything a style sheet can tell apart have the same colours, another colour scheme leaves the structure as it
// was, and another width leaves the colours.

import assert from 'node:assert/strict';

/** Fails for serious violations. part: 'all', or 'colours' and 'layout' of a page that was seen in another scheme or width. */
export async function checkAccess(page, axe, what, part = 'all') {
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(axe);
  const violations = await page.evaluate(async wanted => {
    // What names or counts an element and gives it no colour.
    const told = new Set(['id', 'href', 'title', 'data-value', 'data-hardware', 'aria-label', 'aria-controls']);
    const look = node => `${node.localName}(${[...node.attributes].filter(a => !told.has(a.name)).map(a => `${a.name}=${a.value}`)})`;
    const alike = [...document.querySelectorAll('tbody')].flatMap(body => {
      const kinds = new Set();
      return [...body.rows].filter((row, i) => {
        const kind = `${i % 2} ${[row, ...row.querySelectorAll('*')].map(look)}`;
        return kinds.size === kinds.add(kind).size;
      });
    });
    const colours = { resultTypes: ['violations'], runOnly: { type: 'rule', values: ['color-contrast'] } };
    const layout = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } };
    return [
      ...wanted === 'layout' ? [] : (await globalThis.axe.run({ include: [document], exclude: alike }, colours)).violations,
      ...wanted === 'colours' ? [] : (await globalThis.axe.run(document, layout)).violations,
    ].map(({ id, impact, nodes }) => ({ id, impact, places: nodes.map(node => node.html.slice(0, 120)) }));
  }, part);
  const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  assert.deepEqual(serious.map(({ id, places }) => `${id}: ${places.length} x ${places.slice(0, 3).join(' ')}`), [], `${what}: accessibility`);
}
