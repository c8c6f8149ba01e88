// The limits of the question as lines in the charts of two metrics.

const PREFIXES = { n: 1e-9, µ: 1e-6, u: 1e-6, m: 1e-3, '': 1, k: 1e3 };
const UNIT = '([nµumk]?)(s|J|W)';
const inUnits = text => {
  const [, number, prefix, unit] = new RegExp(`^([\\d.]+(?:e-?\\d+)?)\\s*${UNIT}$`).exec(text.trim()) ?? [];
  return unit && { unit, value: Number(number) * PREFIXES[prefix] };
};

// A limit ("50ms") in the unit of an axis ("latency (ms)"); nothing where the axis is of something else.
function onAxis(title, limits) {
  const [, prefix, unit] = new RegExp(`\\(${UNIT}\\b`).exec(title) ?? [];
  const key = Object.keys(limits).find(name => title.startsWith(name.replaceAll('_', ' ')));
  const limit = key && inUnits(limits[key]);
  return limit && limit.unit === unit ? { key, value: limit.value / PREFIXES[prefix] } : undefined;
}

// The HTML of charts with a line for each limit that one of their axes has.
export function withLimits(html, limits) {
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const data of page.querySelectorAll('figure[data-kind=scatter] script')) {
    const chart = JSON.parse(data.textContent), points = chart.series.flatMap(series => series.points);
    const ends = axis => [Math.min, Math.max].map(end =>
      end(...points.flatMap(point => [point[axis], point[`${axis}_low`] ?? point[axis], point[`${axis}_high`] ?? point[axis]])));
    for (const [axis, other] of [['x', 'y'], ['y', 'x']]) {
      const limit = onAxis(chart[`${axis}_title`], limits);
      if (limit) chart.series.push({ name: `limit on ${limit.key.replaceAll('_', ' ')}`, group: 'limit', joined: true,
        points: ends(other).map(end => ({ label: '', [axis]: limit.value, [other]: end, hover: `at most ${limits[limit.key]}` })) });
    }
    data.textContent = JSON.stringify(chart).replaceAll('<', '\\u003c');
  }
  return page.body.innerHTML;
}
