// The fused graph of one device: pan, zoom, colours by share of time or by what binds, numbers of a chosen node.

import { $, make } from './dom.js';
import { folded } from './fold.js';
import { startWorker } from './start.js';

const SVG = 'http://www.w3.org/2000/svg';
const BOUND = ['#0072b2', '#e69f00', '#999999', '#cc79a7', '#009e73'];
const NEAR = 0.8; // of the natural size, where the whole graph would be too small to read
const LETTERS = 21;

export function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const cut = text => (text.length > LETTERS ? `…${text.slice(1 - LETTERS)}` : text);

export class GraphView {
  constructor() {
    this.layouts = null;
    this.count = 0;
    $('#graph-colour').addEventListener('change', () => this.colour());
    $('#graph-fit').addEventListener('click', () => this.fit(true));
    $('#graph-fold').addEventListener('change', () => this.show(this.all));
  }

  // `nodes` as the answer to "device" has them. Resolves when they are drawn.
  async show(all) {
    const once = folded(all), nodes = $('#graph-fold input').checked ? once : all;
    this.all = all;
    this.nodes = nodes;
    $('#graph-fold').hidden = once.length === all.length;
    $('#graph').replaceChildren();
    if (nodes.length === 0) return;
    const places = await this.place(nodes.map(node => [node.index, node.predecessors]));
    if (this.nodes !== nodes) return; // another device was chosen meanwhile
    this.size = places;
    const lines = places.edges.map(points => draw('path', { d: `M${points.map(point => point.join(' ')).join('L')}`, 'marker-end': 'url(#tip)' }));
    const at = new Map(places.nodes.map(place => [place.index, place]));
    this.marks = new Map(nodes.map(node => [node.index, this.mark(node, at.get(node.index))]));
    const tip = draw('marker', { id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' },
      draw('path', { d: 'M0 0L8 4L0 8z', style: 'fill: var(--muted); stroke: none' }));
    this.scene = draw('g', {}, ...lines, ...this.marks.values());
    this.svg = draw('svg', { role: 'group', 'aria-label': `Graph of ${nodes.length} subgraphs` }, draw('defs', {}, tip), this.scene);
    $('#graph').replaceChildren(this.svg);
    this.listen();
    this.colour();
    this.fit(false);
    this.marks.get(nodes[0].index).setAttribute('tabindex', '0');
  }

  place(nodes) {
    this.layouts ??= startWorker('layout.js');
    const id = ++this.count;
    return new Promise(resolve => {
      this.layouts.addEventListener('message', function done({ data }) {
        if (data.id !== id) return;
        this.removeEventListener('message', done);
        resolve(data);
      });
      this.layouts.postMessage({ id, nodes });
    });
  }

  mark(node, place) {
    const left = place.x - place.width / 2, top = place.y - place.height / 2;
    const text = draw('text', { class: 'name', x: left + 8, y: place.y - 2 });
    text.textContent = cut(node.name);
    const kind = draw('text', { x: left + 8, y: place.y + 12 });
    const time = node.times ? `${node.times} × ${node.numbers.Time}` : node.numbers.Time;
    kind.textContent = `${node.kind}, ${time}`;
    const mark = draw('g', { class: 'node', role: 'button', tabindex: '-1', 'data-index': node.index,
      'aria-label': `${node.name}: ${node.kind}, ${time}, ${(100 * node.share).toPrecision(2)} % of the time, bound by ${node.numbers['Bound by']}` },
    draw('rect', { x: left, y: top, width: place.width, height: place.height, rx: 6 }), text, kind);
    return mark;
  }

  colour() {
    if (!this.marks) return;
    const byShare = $('#graph-colour').value === 'share';
    const most = Math.max(...this.nodes.map(node => node.share));
    const bounds = [...new Set(this.nodes.map(node => node.bound))].sort();
    for (const node of this.nodes) {
      const mark = this.marks.get(node.index), depth = most > 0 ? Math.sqrt(Math.max(0, node.share) / most) : 0;
      const fill = byShare ? `color-mix(in srgb, var(--high) ${(100 * depth).toFixed(1)}%, var(--low))`
        : `color-mix(in srgb, ${BOUND[bounds.indexOf(node.bound) % BOUND.length]} 35%, var(--page))`;
      mark.querySelector('rect').style.fill = fill;
      for (const text of mark.querySelectorAll('text')) text.style.fill = byShare && depth > 0.5 ? 'var(--page)' : 'var(--text)';
    }
    const swatch = (fill, text) => [make('span', { class: 'swatch', style: `background: ${fill}` }), text];
    $('#graph-key').replaceChildren(...(byShare
      ? [...swatch('var(--low)', 'little time'), ...swatch('var(--high)', 'most time')]
      : bounds.flatMap((bound, i) => swatch(`color-mix(in srgb, ${BOUND[i % BOUND.length]} 35%, var(--page))`, bound))));
  }

  // The whole graph, or its beginning at a readable size.
  fit(whole) {
    if (!this.size) return;
    const box = this.svg.getBoundingClientRect();
    const scale = Math.min(box.width / (this.size.width + 20), box.height / (this.size.height + 20));
    this.scale = whole ? Math.min(1, scale) : Math.min(1, Math.max(scale, NEAR));
    const middle = (room, size) => (room - size * this.scale) / 2;
    this.x = middle(box.width, this.size.width);
    this.y = Math.max(10, middle(box.height, this.size.height));
    if (!whole && (this.x < 0 || middle(box.height, this.size.height) < 0)) {
      // What does not fit begins at its first node.
      const first = this.size.nodes.find(place => place.index === this.nodes[0].index);
      this.x = box.width / 2 - first.x * this.scale;
      this.y = 10 - (first.y - first.height / 2) * this.scale;
    }
    this.move();
  }

  move() {
    this.scene.setAttribute('transform', `translate(${this.x} ${this.y}) scale(${this.scale})`);
  }

  zoom(factor, x, y) {
    const scale = Math.min(4, Math.max(0.02, this.scale * factor)), by = scale / this.scale;
    this.x = x - (x - this.x) * by;
    this.y = y - (y - this.y) * by;
    this.scale = scale;
    this.move();
  }

  listen() {
    const { svg } = this, fingers = new Map();
    const local = event => { const box = svg.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    let moved = 0;
    svg.addEventListener('wheel', event => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), ...local(event));
    }, { passive: false });
    svg.addEventListener('pointerdown', event => {
      fingers.set(event.pointerId, local(event));
      moved = 0;
    });
    svg.addEventListener('pointermove', event => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const [x, y] = local(event);
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      moved += Math.hypot(x - before[0], y - before[1]);
      if (moved > 4 && !svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
      if (other) {
        const span = Math.hypot(before[0] - other[0], before[1] - other[1]);
        if (span > 0) this.zoom(Math.hypot(x - other[0], y - other[1]) / span, ...other);
      } else {
        this.x += x - before[0];
        this.y += y - before[1];
        this.move();
      }
      fingers.set(event.pointerId, [x, y]);
    });
    for (const end of ['pointerup', 'pointercancel']) svg.addEventListener(end, event => fingers.delete(event.pointerId));
    svg.addEventListener('click', event => {
      const mark = event.target.closest('.node');
      if (mark && moved <= 4) this.choose(Number(mark.dataset.index), true);
    });
    svg.addEventListener('keydown', event => this.key(event));
  }

  key(event) {
    const here = this.nodes.findIndex(node => node.index === Number(event.target.closest?.('.node')?.dataset.index));
    const box = this.svg.getBoundingClientRect();
    const steps = {
      ArrowRight: () => this.nodes[Math.min(here + 1, this.nodes.length - 1)],
      ArrowLeft: () => this.nodes[Math.max(here - 1, 0)],
      ArrowDown: () => this.nodes.find(node => node.predecessors.includes(this.nodes[here]?.index)),
      ArrowUp: () => this.nodes.find(node => node.index === this.nodes[here]?.predecessors[0]),
      Home: () => this.nodes[0],
      End: () => this.nodes.at(-1),
      Enter: () => this.nodes[here],
      ' ': () => this.nodes[here],
    };
    if (event.key === '+' || event.key === '-') this.zoom(event.key === '+' ? 1.25 : 0.8, box.width / 2, box.height / 2);
    else if (!steps[event.key]) return;
    event.preventDefault();
    const next = steps[event.key]?.();
    if (next) this.choose(next.index, true);
  }

  // The subgraph of that name, where it is one.
  chooseNamed(name) {
    const named = this.all?.find(one => one.name === name), node = this.nodes?.find(one => one === named || one.standsFor?.includes(named?.index));
    if (!node) return;
    this.choose(node.index, false);
    this.reveal(this.marks.get(node.index));
  }

  choose(index, focus) {
    for (const [at, mark] of this.marks) {
      mark.setAttribute('tabindex', at === index ? '0' : '-1');
      if (at === index) mark.setAttribute('aria-pressed', 'true');
      else mark.removeAttribute('aria-pressed');
    }
    const mark = this.marks.get(index), node = this.nodes.find(one => one.index === index);
    if (focus) {
      mark.focus({ preventScroll: true });
      this.reveal(mark);
    }
    const alike = node.times ? { [`All ${node.times} alike`]: `${(100 * node.share).toPrecision(2)} % of the time` } : {};
    $('#node').replaceChildren(make('h4', {}, node.name), make('dl', {}, ...Object.entries({ Kind: node.kind, ...alike, ...node.numbers })
      .flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)])),
    make('p', { class: 'note' }, `Operators: ${node.operators.join(', ')}`));
  }

  // Moves the scene so far that the mark is inside.
  reveal(mark) {
    const outer = this.svg.getBoundingClientRect(), box = mark.getBoundingClientRect();
    const shift = (low, high, from, to) => (low < from ? from - low + 20 : high > to ? to - high - 20 : 0);
    this.x += shift(box.left, box.right, outer.left, outer.right);
    this.y += shift(box.top, box.bottom, outer.top, outer.bottom);
    this.move();
  }
}
