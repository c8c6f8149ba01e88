// When each kernel runs and what its time is made of: a track for each lane of the schedule, as trace events have it.

import { $, make, save } from './dom.js';
import { draw } from './graph_view.js';

const ROW = 26, TOP = 22, LETTER = 6.6, MOST = 64;
const COLOURS = { schedule: 'var(--low)', 'fixed cost': '#999999', compute: '#0072b2', 'on-chip data': '#009e73', 'external memory': '#e69f00' };
const NAMES = { 'fixed cost': 'host: starting kernels, exchange' };
const UNITS = [[1e6, 's'], [1e3, 'ms'], [1, 'µs'], [1e-3, 'ns']];

function timeText(microseconds) {
  const [size, unit] = UNITS.find(([least]) => Math.abs(microseconds) >= least) ?? UNITS.at(-1);
  return `${Number((microseconds / size).toPrecision(3))} ${unit}`;
}

export class TimelineView {
  // `ask` gives the trace of the device that is shown, `chosen` is told the name of a kernel.
  constructor(ask, chosen) {
    this.chosen = chosen;
    this.zoom = 1;
    const open = async () => {
      if (!$('#timeline-section').open || this.text) return;
      $('#slice').textContent = 'Working it out';
      try {
        const text = await ask();
        if (text) this.show(text);
      } catch (problem) {
        $('#slice').textContent = problem.message;
      }
    };
    this.reopen = open;
    $('#timeline-section').addEventListener('toggle', open);
    for (const [id, by] of [['#timeline-in', 2], ['#timeline-out', 0.5]])
      $(id).addEventListener('click', () => this.scale(this.zoom * by));
    $('#timeline-save').addEventListener('click', () => this.text && save(this.text, 'application/json', 'trace.json'));
    $('#timeline').addEventListener('click', event => this.pick(event.target.closest('[data-slice]')));
    // The names of the tracks stay in view.
    $('#timeline').addEventListener('scroll', () => this.heads?.setAttribute('transform', `translate(${$('#timeline').scrollLeft} 0)`));
    $('#timeline').addEventListener('keydown', event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step || !this.slices) return;
      event.preventDefault();
      this.pick($(`[data-slice="${Math.min(Math.max((this.at ?? -1) + step, 0), this.slices.length - 1)}"]`));
    });
  }

  // Another device: what was shown is of the one before.
  clear() {
    this.text = this.slices = null;
    $('#timeline').replaceChildren();
    $('#slice').textContent = '';
    return this.reopen();
  }

  show(text) {
    this.text = text;
    const { traceEvents, otherData } = JSON.parse(text);
    const first = traceEvents.filter(event => event.pid === 1);
    this.tracks = first.filter(event => event.name === 'thread_name').map(event => ({ id: event.tid, name: event.args.name }))
      .filter(({ id }) => first.some(event => event.ph === 'X' && event.tid === id));
    // The longest stand behind those that they hold.
    this.slices = first.filter(event => event.ph === 'X').sort((a, b) => a.tid - b.tid || a.ts - b.ts || b.dur - a.dur);
    this.end = Math.max(...this.slices.map(slice => slice.ts + slice.dur));
    this.at = undefined;
    this.scale(1);
    $('#slice').textContent = `${otherData.pass || 'One inference'}: ${timeText(this.end)}. Choose a kernel: click it, or walk with the arrow keys.`;
  }

  scale(zoom) {
    if (!this.slices) return;
    const box = $('#timeline'), middle = (box.scrollLeft + box.clientWidth / 2) / (box.clientWidth * this.zoom);
    this.zoom = Math.min(MOST, Math.max(1, zoom));
    const width = box.clientWidth * this.zoom - 2, at = time => time / this.end * width;
    const row = id => TOP + 2 * ROW * this.tracks.findIndex(track => track.id === id);
    const marks = this.slices.map((slice, i) => {
      const x = at(slice.ts), wide = Math.max(0.5, at(slice.ts + slice.dur) - x), top = row(slice.tid) + ROW - 6;
      const track = this.tracks.find(({ id }) => id === slice.tid).name;
      const mark = draw('g', { 'data-slice': i }, draw('title', {}, `${slice.name}: ${timeText(slice.dur)} from ${timeText(slice.ts)} on`),
        draw('rect', { x, y: top, width: wide, height: ROW, style: `fill: ${COLOURS[track] ?? 'var(--low)'}` }));
      const letters = Math.floor((wide - 6) / LETTER);
      if (track === 'schedule' && letters >= 4)
        mark.append(draw('text', { x: x + 3, y: top + 17 }, slice.name.length > letters ? `…${slice.name.slice(1 - letters)}` : slice.name));
      return mark;
    });
    const heads = this.tracks.map(({ id, name }) => draw('text', { class: 'head', x: 2, y: row(id) + 15 }, NAMES[name] ?? name));
    const step = this.end / (5 * this.zoom), ticks = Array.from({ length: Math.round(5 * this.zoom) }, (_, i) =>
      draw('text', { class: 'tick', x: at(i * step) + 2, y: 11 }, timeText(i * step)));
    const lines = ticks.map((_, i) => draw('path', { d: `M${at(i * step)} 0V${TOP + 2 * ROW * this.tracks.length}` }));
    const svg = draw('svg', { role: 'group', 'aria-label': `Timeline of ${timeText(this.end)}`, width, height: TOP + 2 * ROW * this.tracks.length + 4 },
      ...lines, ...marks, this.heads = draw('g', {}, ...heads), ...ticks);
    box.replaceChildren(svg);
    box.scrollLeft = middle * box.clientWidth * this.zoom - box.clientWidth / 2;
    this.mark();
  }

  mark() {
    for (const old of document.querySelectorAll('#timeline [aria-pressed]')) old.removeAttribute('aria-pressed');
    $(`#timeline [data-slice="${this.at}"]`)?.setAttribute('aria-pressed', 'true');
  }

  pick(mark) {
    if (!mark) return;
    this.at = Number(mark.dataset.slice);
    this.mark();
    const { name, ts, dur, tid, args } = this.slices[this.at];
    const track = this.tracks.find(({ id }) => id === tid).name;
    $('#slice').replaceChildren(make('strong', {}, name), `: ${track}, ${timeText(dur)} from ${timeText(ts)} on`
      + (args.bound ? `, bound by ${args.bound} (${args.binding})` : ''));
    const box = $('#timeline'), place = mark.getBoundingClientRect(), room = box.getBoundingClientRect();
    if (place.left < room.left || place.right > room.right) box.scrollLeft += place.left - room.left - 40;
    this.chosen(name);
  }
}
