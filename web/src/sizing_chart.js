// How many devices a load takes, and what they cost, from a quarter to four times the load asked for.

import { make } from './dom.js';

export const FACTORS = [0.25, 0.5, 1, 2, 4];

// Worked sizings, one a load: [{ load, document }], as a chart of devices and one of dollars an hour. `asked` is the load of the form.
export function sizingCharts(sizings, asked, unit) {
  const devices = [...new Set(sizings.flatMap(({ document }) => document.results.map(({ hardware }) => hardware)))];
  // What may not be named first is on no line, and of several formats the one with the fewest devices.
  const series = value => devices.map(name => ({ name, group: name, joined: false, points: sizings.flatMap(({ load, document }) => {
    const held = document.results.filter(row => row.hardware === name && row.holds && row.within_budget && !row.doubt && value(row.layout) !== null);
    const best = held.sort((a, b) => value(a.layout) - value(b.layout))[0];
    return best ? [{ label: `${name}, ${best.precision}`, x: load, y: value(best.layout),
      hover: `${name} in ${best.precision} at ${load} ${unit}: ${best.layout.devices} devices, ${best.layout.usd_per_hour === null ? 'no price' : `${best.layout.usd_per_hour.toPrecision(3)} USD/h`}` }] : [];
  }) })).filter(({ points }) => points.length);
  const charts = [['Devices that keep the limits', 'devices', layout => layout.devices], ['What they cost', 'USD per hour', layout => layout.usd_per_hour]];
  return charts.map(([title, y, value]) => {
    const lines = series(value), most = Math.max(...lines.flatMap(({ points }) => points.map(point => point.y)), 1);
    const mark = { name: 'the load asked for', group: 'asked', joined: true, points: [0, most].map(at => ({ label: '', x: asked, y: at || most / 100, hover: `${asked} ${unit}` })) };
    return figure({ kind: 'line', title, x_title: unit, y_title: y, x_log: true, y_log: false, series: [...lines, mark] });
  });
}

// A chart as the library's renderer lays it out (src/report/render/html_charts.cpp).
function figure({ title, ...chart }) {
  const data = make('script', { type: 'application/json' });
  data.textContent = JSON.stringify(chart);
  return make('figure', { class: 'chart', 'data-kind': chart.kind }, make('figcaption', {}, title),
    make('div', { class: 'canvas' }, make('canvas', { tabindex: 0, role: 'img', 'aria-label': `${title}. Arrow keys walk over the points.` })),
    make('div', { class: 'said', 'aria-live': 'polite' }), make('details', {}, make('summary', {}, 'Data')), data);
}
