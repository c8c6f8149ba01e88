// Behaviour of a report: sorting, filtering, sources on request, charts. Needs no network.
'use strict';

// Tables -------------------------------------------------------------------------------------------------------

const cellKey = cell => cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);

function sortBy(head) {
  const table = head.closest('table'), index = [...head.parentElement.children].indexOf(head);
  const down = head.getAttribute('aria-sort') === 'ascending';
  table.querySelectorAll('thead th').forEach(other => other.removeAttribute('aria-sort'));
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const rows = [...table.tBodies[0].rows].map(row => ({ row, key: cellKey(row.children[index]) }));
  rows.sort((a, b) => {
    const numbers = (typeof a.key === 'number') - (typeof b.key === 'number');
    if (numbers) return -numbers; // rows without a number stay last in either order
    const order = typeof a.key === 'number' ? a.key - b.key : a.key.localeCompare(b.key);
    return down ? -order : order;
  });
  table.tBodies[0].append(...rows.map(item => item.row));
}

// One word of a filter: text that a row contains, or COLUMN<NUMBER in the unit that the column shows.
function wordTest(table, word) {
  const condition = /^(.+?)(<=|>=|<|>|=)(-?[\d.]+(?:e-?\d+)?)$/i.exec(word);
  const heads = [...table.tHead.rows[0].cells].map(head => head.textContent.toLowerCase());
  const column = condition ? heads.findIndex(head => head.startsWith(condition[1])) : -1;
  if (column < 0) return row => row.textContent.toLowerCase().includes(word);
  const limit = Number(condition[3]);
  const holds = { '<': v => v < limit, '>': v => v > limit, '<=': v => v <= limit, '>=': v => v >= limit, '=': v => v === limit };
  return row => {
    const value = parseFloat(row.cells[column].textContent);
    return !Number.isNaN(value) && holds[condition[2]](value);
  };
}

function filterRows(input) {
  const table = document.getElementById(input.getAttribute('aria-controls'));
  const tests = input.value.toLowerCase().split(/\s+/).filter(Boolean).map(word => wordTest(table, word));
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    row.hidden = !tests.every(test => test(row));
    shown += !row.hidden;
  }
  input.nextElementSibling.textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
}

// What a number is: its row, its column, itself.
function titleOf(button) {
  const cell = button.closest('td'), name = button.closest('dd')?.previousElementSibling?.textContent;
  if (!cell) return name ? `${name}: ${button.textContent}` : button.textContent;
  const head = cell.closest('table').tHead.rows[0].cells[cell.cellIndex].textContent;
  return `${cell.parentElement.cells[0].textContent.trim()}, ${head}: ${button.textContent}`;
}

async function copyLine(button) {
  const text = button.parentElement.querySelector('code').textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch { // a page from a file may not: the text is selected instead
    getSelection().selectAllChildren(button.parentElement.querySelector('code'));
  }
}

document.addEventListener('click', event => {
  const button = event.target.closest('button');
  if (!button) return;
  if (button.classList.contains('copy')) {
    copyLine(button);
    return;
  }
  if (button.parentElement.tagName === 'TH') sortBy(button.parentElement);
  else if (button.dataset.detail !== undefined) {
    const dialog = document.getElementById('detail');
    dialog.querySelector('p').textContent = button.dataset.detail;
    dialog.querySelector('h3').textContent = titleOf(button);
    dialog.showModal();
  }
});
document.addEventListener('input', event => event.target.matches('.filter') && filterRows(event.target));

// Columns of a window that is too narrow for all: those that matter least leave, as on a narrow terminal, and are named below
// the table. A wide window breaks long texts into lines before, a telephone after it.
// The last to go are those that repeat another (rates are inverses of latency and energy, a name tells its type) or say the same
// in every row, then short texts. Tables of raw data, which have many columns and none that matters less, lose the last ones.
const REPEATS = new Set(['Type', 'FPS', 'FPS/W']);
const DECIDES = new Set(['Rank', 'Best', 'Winner', 'Status', 'Cost']);
const RAW = 12;
const narrow = matchMedia('(max-width: 40rem)');
const showColumn = (table, index, shown) => [...table.rows].forEach(row => row.cells[index] && (row.cells[index].hidden = !shown));

// Columns in the order in which they leave.
function leavers(table, heads) {
  const ranked = heads.some(head => head.dataset.priority), raw = !ranked && heads.length > RAW;
  const rows = [...table.tBodies[0].rows];
  const constant = heads.map((_, i) => i > 0 && rows.length > 2 && rows.every(row => row.cells[i]?.textContent === rows[0].cells[i]?.textContent));
  const names = head => DECIDES.has(head.textContent) || head.dataset.devices !== undefined;
  const texts = heads.map((head, i) => ranked && i > 0 && !head.classList.contains('right') && !names(head) &&
    ![...table.tBodies[0].rows].some(row => row.cells[i]?.matches('.long, .path')));
  const rank = (head, i) => Number(head.dataset.priority ?? (REPEATS.has(head.textContent) || constant[i] ? 0.5 : texts[i] ? 0.25 : raw && i > 1 ? 0.1 : 0));
  return heads.map((head, index) => ({ index, rank: rank(head, index) })).filter(one => one.rank > 0)
    .sort((a, b) => b.rank - a.rank || b.index - a.index).map(one => one.index);
}

// What a telephone leaves out beyond that, the last column first: never the first one, what ranks the rows, what the title names,
// or sentences.
function spare(table, heads) {
  const title = table.caption?.textContent ?? '', name = head => head.textContent.replace(/ \(.*/, '');
  const keeps = (head, i) => i === 0 || head.hidden || DECIDES.has(name(head)) || head.dataset.devices !== undefined || title.includes(`by ${name(head)}`) ||
    [...table.tBodies[0].rows].some(row => row.cells[i]?.matches('.long, .text, .path'));
  return heads.map((head, i) => ({ i, kept: keeps(head, i) })).filter(one => !one.kept).map(one => one.i).reverse();
}

function fitTable(box) {
  const table = box.querySelector('table'), heads = [...table.tHead.rows[0].cells], sticksOut = () => box.scrollWidth > box.clientWidth;
  if (box.nextElementSibling?.classList.contains('left-out')) box.nextElementSibling.remove();
  heads.forEach((head, index) => head.hidden && showColumn(table, index, true));
  table.classList.remove('broken');
  if (box.dataset.whole || !sticksOut()) return;
  table.classList.toggle('broken', !narrow.matches);
  const out = [];
  for (const index of leavers(table, heads)) {
    if (!sticksOut()) break;
    showColumn(table, index, false);
    out.push(index);
  }
  if (sticksOut()) table.classList.add('broken');
  for (const index of narrow.matches ? spare(table, heads) : []) {
    if (!sticksOut()) break;
    showColumn(table, index, false);
    out.push(index);
  }
  if (sticksOut()) table.classList.remove('broken'); // it scrolls then, and need not be longer for it
  out.sort((a, b) => a - b);
  if (out.length === 0) return;
  const note = document.createElement('p'), all = document.createElement('button');
  note.className = 'muted note left-out';
  note.append(`Not shown at this width: ${out.map(index => heads[index].textContent).join(', ')}. `, all);
  all.type = 'button';
  all.textContent = 'Show all';
  all.addEventListener('click', () => {
    box.dataset.whole = 'yes';
    fitTable(box);
  });
  box.after(note);
}

const fitTables = () => document.querySelectorAll('.scroll:has(> table[id])').forEach(fitTable);

// Devices ------------------------------------------------------------------------------------------------------

// Names in the tables that list devices, without the marks that follow them.
const off = new Set();
const deviceOf = cell => cell.textContent.trim().replace(/[\s*!=]+$/, '');
const deviceCells = () => [...document.querySelectorAll('th[data-devices]')].flatMap(head =>
  [...head.closest('table').tBodies[0].rows].map(row => row.cells[head.cellIndex]).filter(Boolean));

// "H100", "H100 roof, fp16" and "H100, batch 8" are of H100; "H100-PCIe" is not.
const isOff = name => [...off].some(device => name === device || name?.startsWith(device + ' ') || name?.startsWith(device + ','));

function showDevices() {
  for (const cell of deviceCells()) cell.parentElement.classList.toggle('off', off.has(deviceOf(cell)));
  for (const table of document.querySelectorAll('table.heat')) // a column each
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      for (const row of table.rows) row.cells[column].hidden = isOff(head.textContent.trim());
    });
  drawAll();
}

// A switch for each device under the verdict, where there are several and not too many to choose from.
function addDeviceSwitches() {
  const devices = [...new Set(deviceCells().map(deviceOf))].filter(Boolean), verdict = document.querySelector('.takeaway');
  if (devices.length < 2 || devices.length > 40 || !verdict) return;
  const group = document.createElement('fieldset');
  group.className = 'devices';
  group.appendChild(document.createElement('legend')).textContent = 'Devices shown';
  for (const device of devices) {
    const label = group.appendChild(document.createElement('label')), box = label.appendChild(document.createElement('input'));
    box.type = 'checkbox';
    box.checked = true;
    box.addEventListener('change', () => {
      if (box.checked) off.delete(device);
      else off.add(device);
      showDevices();
    });
    label.append(device);
  }
  verdict.after(group);
}

// A chart without the devices that are switched off; colours stay those of the whole.
function shownPart(chart) {
  const series = chart.series.filter(one => !isOff(one.name) && !isOff(one.group))
    .map(one => ({ ...one, points: one.points.filter(point => !isOff(point.label)) }));
  return { ...chart, series, every: chart.series };
}

// Charts -------------------------------------------------------------------------------------------------------

// Told apart by people with colour blindness (Okabe and Ito, 2008), and by shape.
const LIGHT = ['#0072b2', '#d55e00', '#009e73', '#e69f00', '#cc79a7', '#56b4e9', '#7f6f00', '#444444'];
const DARK = ['#56b4e9', '#ff8c42', '#2fd0a2', '#f0b93a', '#e39bc4', '#8fd3ff', '#f0e442', '#cccccc'];
const SHAPES = ['circle', 'rect', 'triangle', 'rectRot', 'crossRot', 'star', 'cross', 'rectRounded'];
const darkWanted = matchMedia('(prefers-color-scheme: dark)');
let printing = false;
const palette = () => darkWanted.matches && !printing ? DARK : LIGHT;
const ink = () => darkWanted.matches && !printing ? '#d5d8dc' : '#333';

// Intervals as thin bars behind the marks.
const intervals = {
  id: 'intervals',
  beforeDatasetsDraw(chart) {
    const { ctx, scales: { x, y } } = chart;
    if (!x || !y) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(chart.chartArea.left, chart.chartArea.top, chart.chartArea.width, chart.chartArea.height);
    ctx.clip();
    chart.data.datasets.forEach((set, index) => {
      if (!chart.isDatasetVisible(index) || !set.spans) return;
      ctx.strokeStyle = set.borderColor;
      ctx.globalAlpha = 0.45;
      for (const p of set.data) {
        const line = (x0, y0, x1, y1) => { ctx.beginPath(); ctx.moveTo(x0, y0); ctx.lineTo(x1, y1); ctx.stroke(); };
        if (p.y_low !== undefined && p.y_high > p.y_low)
          line(x.getPixelForValue(p.x), y.getPixelForValue(p.y_low), x.getPixelForValue(p.x), y.getPixelForValue(p.y_high));
        if (p.x_low !== undefined && p.x_high > p.x_low)
          line(x.getPixelForValue(p.x_low), y.getPixelForValue(p.y), x.getPixelForValue(p.x_high), y.getPixelForValue(p.y));
      }
    });
    ctx.restore();
  },
};

// Names beside the marks of a scatter of few points; those that would lie on another are left out.
const names = {
  id: 'names',
  afterDatasetsDraw(chart) {
    const marks = chart.data.datasets.flatMap((set, at) => set.named && chart.isDatasetVisible(at)
      ? set.data.map((point, index) => ({ point, at: chart.getDatasetMeta(at).data[index].getCenterPoint() })) : []);
    if (marks.length === 0 || marks.length > 40) return;
    const { ctx, chartArea } = chart, taken = [];
    ctx.save();
    ctx.font = '11px system-ui, sans-serif';
    ctx.fillStyle = ink();
    for (const { point, at } of marks) {
      const width = ctx.measureText(point.label).width, right = at.x + 8 + width < chartArea.right;
      const box = { x: right ? at.x + 8 : at.x - 8 - width, y: at.y - 6, width, height: 12 };
      if (taken.some(b => b.x < box.x + box.width && box.x < b.x + b.width && b.y < box.y + box.height && box.y < b.y + b.height)) continue;
      taken.push(box);
      ctx.fillText(point.label, box.x, at.y + 4);
    }
    ctx.restore();
  },
};

// 405504 in billions is 406 k: ticks of axes that span decades.
function withPrefix(value) {
  const step = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']].find(([size]) => Math.abs(value) >= size);
  return step ? `${Number((value / step[0]).toPrecision(3))}${step[1]}` : compact(value);
}

function compact(value) {
  const rounded = Number(Number(value).toPrecision(3)), size = Math.abs(rounded);
  return size >= 1e6 || (size > 0 && size < 1e-4) ? rounded.toExponential() : String(rounded);
}

// The nearest of ..., 0.5, 1, 2, 5, 10, ... that is not above (or not below) the value.
function roundStep(value, up) {
  const decade = 10 ** Math.floor(Math.log10(value) + 1e-9);
  const steps = [1, 2, 5, 10].map(step => step * decade);
  return up ? steps.find(step => step >= value * 0.999999) : steps.filter(step => step <= value * 1.000001).at(-1);
}

// Intervals are inside the axis too. Logarithmic ends are chosen here, for Chart.js goes to whole decades.
function axis(title, log, series, key) {
  const values = series.flatMap(one => one.points.flatMap(p => [p[key], p[key + '_low'], p[key + '_high']]))
    .filter(value => Number.isFinite(value) && (!log || value > 0));
  const low = Math.min(...values), high = Math.max(...values);
  const ends = values.length === 0 ? {} : log ? { min: roundStep(low, false), max: roundStep(high, true) }
                                              : { suggestedMin: low, suggestedMax: high };
  return {
    ...ends, type: log ? 'logarithmic' : 'linear', title: { display: !!title, text: title, color: ink() },
    ticks: { color: ink(), callback: value => !log || /^[125]0*$/.test(value.toPrecision(1).replace(/^[0.]+|e.*$|\.0*$/g, '')) ? withPrefix(value) : '' },
    grid: { color: '#8883' },
  };
}

// Series of one group share a colour.
function colorsOf(series, every) {
  const groups = [...new Set((every ?? series).map(s => s.group || s.name))];
  return series.map(s => palette()[groups.indexOf(s.group || s.name) % palette().length]);
}

function pointSets(chart) {
  const colors = colorsOf(chart.series, chart.every), shape = series => SHAPES[Math.max(0, (chart.every ?? chart.series)
    .findIndex(one => one.name === series.name)) % SHAPES.length];
  return chart.series.map((series, i) => ({
    label: series.name, data: series.points, borderColor: colors[i], backgroundColor: colors[i] + (chart.kind === 'step' ? '44' : ''),
    showLine: series.joined || chart.kind === 'line' || chart.kind === 'step', stepped: chart.kind === 'step' && !series.joined ? 'before' : false,
    fill: chart.kind === 'step' && !series.joined, pointRadius: series.joined || chart.kind === 'step' ? 0 : 4.5, pointHoverRadius: 7,
    pointHitRadius: series.joined ? 0 : 8, pointStyle: series.joined ? 'line' : shape(series), borderWidth: 1.5,
    borderDash: series.joined ? [5, 4] : [], clip: series.joined ? 0 : 8, spans: !series.joined, named: chart.kind === 'scatter' && !series.joined,
  }));
}

// More layers than colours that can be told apart: the smallest together are "other".
function folded(series) {
  if (series.length <= LIGHT.length) return series;
  const sum = one => one.points.reduce((total, point) => total + point.y, 0);
  const order = [...series].sort((a, b) => sum(b) - sum(a)), kept = new Set(order.slice(0, LIGHT.length - 1));
  const other = new Map();
  for (const point of order.filter(one => !kept.has(one)).flatMap(one => one.points)) {
    const known = other.get(point.label);
    other.set(point.label, { ...point, y: (known?.y ?? 0) + point.y, hover: [known?.hover, point.hover].filter(Boolean).join('; ') });
  }
  return [...series.filter(one => kept.has(one)), { name: 'other', points: [...other.values()] }];
}

function barSets(given) {
  const chart = { ...given, series: folded(given.series) };
  const labels = [...new Set(chart.series.flatMap(series => series.points.map(point => point.label)))];
  const colors = colorsOf(chart.series);
  const sets = chart.series.map((series, i) => ({
    label: series.name, backgroundColor: colors[i], borderColor: palette() === DARK ? '#16181c' : '#fff', borderWidth: 1,
    data: labels.map(label => series.points.filter(p => p.label === label).reduce((sum, p) => sum + p.y, 0)),
    hovers: labels.map(label => (series.points.find(p => p.label === label) || {}).hover),
  }));
  return { labels, datasets: sets };
}

function waterfallSets(chart) {
  let level = 0;
  const points = chart.series.flatMap(series => series.points);
  const data = points.map(point => {
    const from = point.total ? 0 : level;
    level = point.total ? point.y : level + point.y;
    return [from, level];
  });
  const [blue, orange] = palette();
  return {
    labels: points.map(point => point.label),
    datasets: [{
      label: chart.y_title, data, hovers: points.map(point => point.hover), borderSkipped: false, minBarLength: 2,
      backgroundColor: points.map(point => point.total ? '#888' : point.y > 0 ? orange : blue),
    }],
  };
}

// Names beside bars of a narrow picture: in several lines, of a path its end.
function fitted(label, width) {
  const most = Math.max(12, Math.floor(width / 20));
  if (label.length <= most || width > 700) return label;
  return label.match(new RegExp(`.{1,${most}}(\\s|$)|\\S+`, 'g')).map(part => part.trim())
    .map(part => part.length > most ? '…' + part.slice(1 - most) : part);
}

function configuration(whole) {
  const chart = shownPart(whole);
  const bars = ['bar', 'stacked_bar', 'waterfall'].includes(chart.kind);
  const stacked = chart.kind === 'stacked_bar';
  const hover = item => {
    const text = bars ? (item.dataset.hovers[item.dataIndex] || '') : item.raw.hover;
    return text || `${item.dataset.label}: ${compact(bars ? item.parsed.x : item.parsed.y)}`;
  };
  const wrap = text => text.match(/.{1,80}(\s|$)|\S+/g).map(line => line.trim());
  // The data, not the ends of the roofs, say how wide the picture is; their tops belong to it.
  const measured = chart.kind === 'roofline' ? chart.series.filter(series => !series.joined) : chart.series;
  const value = axis(chart.y_title, chart.y_log, bars ? [] : chart.series, 'y'), other = axis(chart.x_title, chart.x_log, measured, 'x');
  return {
    type: bars ? 'bar' : 'scatter',
    data: bars ? (chart.kind === 'waterfall' ? waterfallSets(chart) : barSets(chart)) : { datasets: pointSets(chart) },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, indexAxis: bars ? 'y' : 'x',
      interaction: { mode: 'nearest', intersect: true },
      scales: bars ? { x: { ...value, stacked }, y: { stacked, ticks: { color: ink(), autoSkip: false,
                       callback(value) { return fitted(this.getLabelForValue(value), this.chart.width); } }, grid: { display: false } } }
                   : { x: other, y: chart.kind === 'step' ? { ...value, beginAtZero: true } : value },
      plugins: {
        legend: { display: chart.series.length > 1, labels: { color: ink(), usePointStyle: !bars, boxHeight: 7, ...(bars ? {} : { boxWidth: 7 }) } },
        tooltip: { callbacks: { title: () => '', label: item => wrap(hover(item)) } },
      },
    },
    plugins: [intervals, names],
  };
}

let charts = [];
function drawAll() {
  for (const item of charts) {
    item.drawn.destroy();
    item.drawn = new Chart(item.canvas, configuration(item.chart));
  }
}

// Arrow keys walk over the marks; a live region says what the tooltip shows.
function walk(item, step) {
  const marks = item.drawn.data.datasets.flatMap((set, datasetIndex) =>
    set.pointRadius === 0 && !(item.chart.kind === 'step' && datasetIndex === 0) ? [] : set.data.map((_, index) => ({ datasetIndex, index })));
  if (marks.length === 0) return;
  item.at = ((item.at ?? (step > 0 ? -1 : 0)) + step + marks.length) % marks.length;
  const mark = marks[item.at];
  const element = item.drawn.getDatasetMeta(mark.datasetIndex).data[mark.index];
  item.drawn.setActiveElements([mark]);
  item.drawn.tooltip.setActiveElements([mark], element.getCenterPoint());
  item.drawn.update();
  item.said.textContent = (item.drawn.tooltip.body || []).flatMap(part => part.lines).join(' ');
}

function dataTable(chart) {
  const table = document.createElement('table');
  const add = (row, tag, cells) => cells.forEach(text => row.appendChild(document.createElement(tag)).textContent = text);
  add(table.createTHead().insertRow(), 'th', ['Series', 'Point', chart.x_title, chart.y_title]);
  const body = table.createTBody();
  for (const series of chart.series)
    for (const point of series.points)
      add(body.insertRow(), 'td', [series.name, point.label, compact(point.x), compact(point.y)]);
  return table;
}

// Draws the charts below `root`, which may be a part of a page that is shown later.
function adoptReport(root) {
  for (const gone of charts.filter(item => !item.canvas.isConnected)) gone.drawn.destroy();
  charts = charts.filter(item => item.canvas.isConnected);
  root.querySelectorAll('figure.chart').forEach(adoptFigure);
  root.querySelectorAll('.scroll:has(> table[id])').forEach(fitTable);
}

// Bars need room for their names, which take several lines in a narrow picture.
function giveRoom(figure, chart) {
  if (!['bar', 'stacked_bar', 'waterfall'].includes(chart.kind)) return;
  const room = figure.querySelector('.canvas'), rows = Math.max(...chart.series.map(series => series.points.length), 1);
  const lines = Math.max(...chart.series.flatMap(series => series.points.map(point => [fitted(point.label, room.clientWidth)].flat().length)), 1);
  room.style.height = `${Math.max(8, 5 + Math.max(1.8, 0.6 + 0.95 * lines) * rows + (chart.series.length > 1 ? 4 : 0))}rem`;
}

function adoptFigure(figure) {
  const chart = JSON.parse(figure.querySelector('script').textContent);
  const item = { chart, canvas: figure.querySelector('canvas'), said: figure.querySelector('.said') };
  giveRoom(figure, chart);
  item.canvas.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    walk(item, step);
  });
  figure.querySelector('details').addEventListener('toggle', event => {
    if (!event.target.open || event.target.querySelector('table')) return;
    const inside = document.createElement('div');
    inside.className = 'scroll';
    inside.tabIndex = 0;
    inside.setAttribute('role', 'group');
    inside.setAttribute('aria-label', 'Data');
    inside.append(dataTable(chart));
    event.target.append(inside);
  });
  item.drawn = new Chart(item.canvas, configuration(chart));
  charts.push(item);
}

adoptReport(document);
let width = innerWidth;
addEventListener('resize', () => { // a telephone's bars change the height alone
  if (width === innerWidth) return;
  width = innerWidth;
  fitTables();
  for (const { canvas, chart } of charts) giveRoom(canvas.closest('figure'), chart);
});
if (document.querySelector('main.report')) addDeviceSwitches();
darkWanted.addEventListener('change', drawAll);
addEventListener('beforeprint', () => { printing = true; drawAll(); });
addEventListener('afterprint', () => { printing = false; drawAll(); });
