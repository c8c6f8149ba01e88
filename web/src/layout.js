// Places the nodes of a graph, layer by layer, in a worker: { nodes: [[index, [predecessors]]...] } in, places out.

import dagre from '@dagrejs/dagre';

const WIDTH = 176, HEIGHT = 36;
const MANY = 400; // from so many nodes on, layers by longest path: the better ones take seconds

self.onmessage = ({ data }) => {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 24, ranksep: 28, ranker: data.nodes.length > MANY ? 'longest-path' : 'network-simplex' });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [index] of data.nodes) graph.setNode(String(index), { width: WIDTH, height: HEIGHT });
  for (const [index, predecessors] of data.nodes)
    for (const from of predecessors) graph.setEdge(String(from), String(index));
  dagre.layout(graph);
  const { width, height } = graph.graph();
  self.postMessage({
    id: data.id, width, height,
    nodes: graph.nodes().map(name => { const { x, y } = graph.node(name); return { index: Number(name), x, y, width: WIDTH, height: HEIGHT }; }),
    edges: graph.edges().map(edge => graph.edge(edge).points.map(({ x, y }) => [x, y])),
  });
};
