// One device: sliders, its graph, everything that a report says of it.

import { $, make, show } from './dom.js';
import { Latest } from './engine.js';
import { GraphView } from './graph_view.js';
import { showSections } from './ranking_view.js';
import { TimelineView } from './timeline_view.js';

const OCTAVES = 2; // a slider goes from a quarter to four times
const titles = { power_limit: 'power limit', on_chip_memory: 'on-chip memory', bandwidth: 'memory bandwidth', capacity: 'memory capacity', units: 'compute units' };

export class DeviceView {
  // `moved` is told the factors on the device when a slider has been moved.
  constructor(engine, complain, moved) {
    this.engine = engine;
    this.moved = moved;
    this.graph = new GraphView();
    this.timeline = new TimelineView(async () => {
      const { question } = this, { text } = await engine.ask({ ...question, ask: 'trace' });
      return question === this.question ? text : '';
    }, name => this.graph.chooseNamed(name));
    $('#local').addEventListener('toggle', () => this.showLocal(complain));
    this.changed = new Latest(async question => {
      try {
        const answer = await engine.ask(question);
        if (question.hardware[0] !== this.question?.hardware[0]) return;
        show($('#change'), answer.table);
        $('#change').dataset.asked = JSON.stringify(question.changes);
      } catch (problem) {
        complain(problem);
      }
    });
  }

  showSliders(names) {
    const row = name => {
      const shown = make('output', {}, '×1.00');
      const input = make('input', { type: 'range', min: -OCTAVES, max: OCTAVES, step: 0.05, value: 0, 'data-change': name });
      input.addEventListener('input', () => {
        shown.textContent = input.ariaValueText = `×${(2 ** input.value).toFixed(2)}`;
        this.slide();
        this.moved(this.changes());
      });
      return make('label', {}, titles[name] ?? name, shown, input);
    };
    const reset = make('button', { type: 'button', class: 'do' }, 'As stated');
    reset.addEventListener('click', () => {
      this.setSliders({});
      this.moved({});
    });
    $('#sliders').replaceChildren(...names.map(row), make('div', {}, reset));
  }

  // The sliders at these factors, and the device with them.
  setSliders(changes) {
    for (const input of document.querySelectorAll('[data-change]')) {
      input.value = Math.log2(changes[input.dataset.change] ?? 1);
      input.previousElementSibling.textContent = input.ariaValueText = `×${(2 ** input.value).toFixed(2)}`;
    }
    $('#change').replaceChildren();
    if (Object.keys(this.changes()).length) this.slide();
  }

  changes() {
    const moved = [...document.querySelectorAll('[data-change]')].filter(input => Number(input.value) !== 0);
    return Object.fromEntries(moved.map(input => [input.dataset.change, Number((2 ** input.value).toFixed(4))]));
  }

  // What else the device can be used for, worked out when it is looked for: it takes seconds.
  async showLocal(complain) {
    const shown = $('#local > div'), { question } = this;
    if (!$('#local').open || !question || shown.hasChildNodes()) return;
    shown.replaceChildren(make('p', { class: 'note', role: 'status' }, 'Estimating every language model of the catalogue'));
    try {
      const { sections } = await this.engine.ask({ ask: 'local', hardware: question.hardware });
      if (question === this.question) showSections(shown, sections, true);
    } catch (problem) {
      shown.replaceChildren();
      complain(problem, shown);
    }
  }

  slide() {
    this.changed.put({ ...this.question, ask: 'change', changes: this.changes() });
  }

  // `question` names one device.
  async show(question, changes) {
    this.question = question;
    const answer = await this.engine.ask({ ...question, ask: 'device' });
    if (this.question !== question) return;
    $('#device').hidden = false;
    $('#device-title').textContent = answer.title;
    this.setSliders(changes);
    showSections($('#sections'), answer.sections);
    $('#node').replaceChildren(make('p', { class: 'note' }, 'Choose a subgraph: click it, or walk with the arrow keys.'));
    $('#graph-section').hidden = answer.graph.length === 0; // a model of several parts has no graph of its own
    $('#timeline-section').hidden = answer.status !== 'ok';
    this.timeline.clear();
    $('#local > div').replaceChildren();
    $('#local').open = false;
    await this.graph.show(answer.graph);
  }

  hide() {
    this.question = null;
    this.setSliders({});
    $('#device-title').textContent = '';
    $('#device').hidden = true;
  }
}
