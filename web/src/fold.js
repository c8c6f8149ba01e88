// Equal layers of a graph, once: a language model repeats a few dozen subgraphs, and its graph is read at the size of one layer.

const LEAST = 3; // repetitions that are worth it
const MANY = 60; // nodes up to which a graph is read as it is

// What makes two subgraphs equal but for their names and neighbours.
const sign = ({ kind, operators, numbers }) => [kind, ...operators, numbers.Operations, numbers.Weights].join('|');

// The repetition of nodes [from, to) that leaves out most: where it begins, how long it is, how often it comes.
function longest(signs, from, to) {
  let best = { saved: 0 };
  for (let period = 1; period <= (to - from) / LEAST; ++period)
    for (let at = from, equal = 0; at + period <= to; ++at) {
      if (at + period < to && signs[at] === signs[at + period]) {
        ++equal;
        continue;
      }
      const times = Math.floor(equal / period) + 1, saved = (times - 1) * period;
      if (times >= LEAST && saved > best.saved) best = { saved, start: at - equal, period, times };
      equal = 0;
    }
  return best;
}

// The nodes with each repetition as its first layer, whose nodes have `times` and the share of all; the rest as it is.
// `standsFor` of a node: the indices of those that it stands for.
export function folded(nodes) {
  if (nodes.length <= MANY) return nodes;
  const signs = nodes.map(sign), kept = [], place = new Map();
  const walk = (from, to) => {
    const { saved, start, period, times } = longest(signs, from, to);
    if (!saved) {
      for (let i = from; i < to; ++i) kept.push({ ...nodes[i], standsFor: [nodes[i].index] });
      return;
    }
    walk(from, start);
    for (let i = start; i < start + period; ++i) {
      const alike = Array.from({ length: times }, (_, n) => nodes[i + n * period]);
      kept.push({ ...nodes[i], times, share: alike.reduce((sum, { share }) => sum + share, 0), standsFor: alike.map(({ index }) => index) });
    }
    walk(start + times * period, to);
  };
  walk(0, nodes.length);
  for (const { index, standsFor } of kept) for (const one of standsFor) place.set(one, index);
  return kept.map(node => ({ ...node, predecessors: [...new Set(node.predecessors.map(one => place.get(one)))].filter(one => one !== node.index) }));
}
