// What else is asked of a model, in forms that the library describes: how many users devices serve, how many devices a load
// takes, what an inference costs. A field's word ("load.rate") is its name in the address too.

import { $, make, save, show } from './dom.js';
import { showSections } from './ranking_view.js';
import { FACTORS, sizingCharts } from './sizing_chart.js';

const BEST = 5; // devices that are asked where none is chosen: those that rank best, can be paid for and were measured
const WAITS = ['ttft_p99', 'tpot_p99', 'e2e_p99']; // limits of a server; a sizing has more
const SHOWN = ['rate', 'concurrency', 'prompt_tokens', 'output_tokens'];
const FILLED = { 'load.prompt_tokens': '2000', 'load.output_tokens': '300' };
const plain = text => text.replaceAll('_', ' ').replace(/--([a-z-]+)/g, (all, flag) => flag.replaceAll('-', ' '));
const example = help => /, (\d\S+)$/.exec(help)?.[1].replace(/^/, 'such as ');
const TITLES = { rate: 'requests per second', concurrency: 'users at once', prompt_tokens: 'tokens of a prompt', output_tokens: 'tokens of an answer',
  ttft_p99: 'P99 to first token', tpot_p99: 'P99 per token', e2e_p99: 'P99 of an answer', kwh_price: 'USD per kWh', pue: 'PUE',
  grid_intensity: 'g CO2e per kWh', utilization: 'share of time at work', users: 'people who use it', think_time: 'from question to question', max_devices: 'most devices',
  pairs: 'prompts and answers apart', years: 'years of use', tenure: 'rent or buy', prices: 'own prices' };
// How devices are paid for, and what a form of the page leaves to the library.
const CHOICES = { tenure: ['rent', 'buy'] };

export class AskedView {
  // `ask` asks the engine; `act` runs a reader's action; `asked` tells the question that was answered and the ranking's rows;
  // `moved` is told which answer is shown (serve, most, size or cost) and the words of its form.
  constructor({ ask, act, asked, moved }) {
    Object.assign(this, { ask, act, asked, moved });
    this.documents = {}; // the answers as JSON, by the place where they are shown
    for (const [form, kind, shown] of [['#server', () => $('#server-kind').value, '#served'], ['#costs', () => 'cost', '#costed']]) {
      const row = $(`${form} .row:last-child`); // a message comes to stand behind it
      $(form).addEventListener('submit', event => {
        event.preventDefault();
        this.act('Working it out', async current => {
          await this.answer(kind(), current);
          if (current()) this.moved(kind(), this.words(kind()));
        }, row, () => this.forget(shown));
      });
    }
    $('#server-json').addEventListener('click', () => {
      save(this.documents.server, 'application/json', `${$('#server-kind').value === 'size' ? 'size_service' : 'serve_model'}.json`);
    });
    $('#sizing-draw').addEventListener('click', () => this.act('Sizing five loads', current => this.drawSizing(current), $('#sizing-draw').parentElement));
  }

  // The forms, from the library's tables of fields.
  showForms({ load, level, costs }, fields) {
    this.conditions = fields.filter(({ everywhere }) => everywhere).map(({ key }) => key); // of the question, which servers have too
    const field = prefix => ({ key, help, usual, truth, choices = CHOICES[key] ?? [] }) => {
      const common = { 'data-word': `${prefix}.${key}`, title: plain(help) };
      const input = truth ? make('input', { ...common, type: 'checkbox' })
        : choices.length ? make('select', common, make('option', { value: '' }, usual || 'as usual'), ...choices.map(name => make('option', {}, name)))
          : make('input', { ...common, placeholder: usual ? plain(usual) : example(help) });
      return make('label', { class: 'field' }, make('span', {}, TITLES[key] ?? plain(key)), input);
    };
    const first = load.filter(({ key }) => SHOWN.includes(key));
    const rest = load.filter(({ key, group }) => !SHOWN.includes(key) && group !== 'Energy and carbon');
    $('#server-fields').replaceChildren(...first.map(field('load')), ...level.map(field('level')));
    $('#server-further .fields').replaceChildren(...rest.map(field('load')));
    $('#cost-fields').replaceChildren(...costs.map(field('cost')));
  }

  // The forms as the question has them.
  fill({ ask, words }) {
    for (const input of document.querySelectorAll('[data-word]')) {
      const text = words[input.dataset.word] ?? (ask ? '' : FILLED[input.dataset.word] ?? '');
      if (input.type === 'checkbox') input.checked = text === 'true';
      else input.value = text;
    }
    $('#server-further').open ||= [...document.querySelectorAll('#server-further [data-word]')].some(input => words[input.dataset.word]);
    if ([...$('#server-kind').options].some(option => option.value === ask)) $('#server-kind').value = ask;
  }

  // What an answer of that kind was asked with.
  words(kind) {
    const part = kind === 'cost' ? /^cost\./ : kind === 'size' ? /^(load|level|cost)\./ : /^(load|level)\./;
    return Object.fromEntries(Object.entries(this.filled()).filter(([word]) => part.test(word)));
  }

  filled() {
    const fields = [...document.querySelectorAll('[data-word]')].map(input =>
      [input.dataset.word, input.type === 'checkbox' ? (input.checked ? 'true' : '') : input.value.trim()]);
    return Object.fromEntries(fields.filter(([, text]) => text));
  }

  part(prefix, test = () => true) {
    return Object.fromEntries(Object.entries(this.filled()).filter(([word]) => word.startsWith(`${prefix}.`))
      .map(([word, text]) => [word.slice(prefix.length + 1), text]).filter(([key]) => test(key)));
  }

  // Another model or other conditions: what was answered before is no answer to them.
  forget(only) {
    for (const shown of only ? [only] : ['#served', '#costed']) $(shown).replaceChildren();
    if (only === '#costed') return;
    $('#server-json').hidden = $('#sizing').hidden = true;
    $('#sizing-charts').replaceChildren();
  }

  async answer(kind, current) {
    const { question, rows } = this.asked();
    const priced = rows.filter(row => row.status === 'ok' && row.priced && row.place > 0);
    const hardware = question.hardware?.length ? question.hardware : priced.slice(0, BEST).map(row => row.hardware);
    const whose = question.hardware?.length ? '' : `Of the ${hardware.length} measured devices with a price that rank best; choose others above.`;
    if (kind === 'cost') {
      const { html } = await this.ask({ ...question, deployment: undefined, hardware, ask: 'cost', costs: this.part('cost') });
      if (!current()) return;
      show($('#costed'), html);
      $('#costed').prepend(make('p', { class: 'note' }, whose));
    } else {
      const asks = { model: question.model, sizes: question.sizes, changes: question.changes, hardware,
        ...Object.fromEntries(Object.entries(question).filter(([key]) => this.conditions.includes(key))) };
      if (kind === 'serve') Object.assign(asks, { ask: 'serve', load: this.part('load') });
      // The rate is what is looked for.
      if (kind === 'most') Object.assign(asks, { ask: 'serve', load: this.part('load', key => !['rate', 'concurrency', 'arrivals'].includes(key)), level: this.part('level', key => WAITS.includes(key)) });
      if (kind === 'size') Object.assign(asks, { ask: 'size', load: this.part('load'), level: this.part('level'), costs: this.part('cost') });
      const { sections, json } = await this.ask(asks);
      if (!current()) return;
      this.documents.server = json;
      this.sized = kind === 'size' && asks;
      $('#sizing').hidden = kind !== 'size';
      $('#sizing-charts').replaceChildren();
      showSections($('#served'), sections, true);
      $('#served').prepend(make('p', { class: 'note' }, whose));
      $('#server-json').hidden = false;
    }
  }

  // The sizing that is shown, at other loads too.
  async drawSizing(current) {
    const { load } = this.sized, key = load.rate ? 'rate' : 'concurrency', asked = Number(load[key]);
    const unit = key === 'rate' ? 'requests per second' : 'users at once';
    if (!(asked > 0)) throw new Error(`The charts need a number of ${unit}.`);
    const sizings = [];
    for (const factor of FACTORS) {
      const at = key === 'rate' ? asked * factor : Math.max(1, Math.round(asked * factor));
      $('#status').textContent = $('#sizing-said').textContent = `Sizing load ${sizings.length + 1} of ${FACTORS.length}`;
      const { json } = await this.ask({ ...this.sized, load: { ...load, [key]: String(at) } });
      if (!current()) return;
      sizings.push({ load: at, document: JSON.parse(json) });
    }
    $('#sizing-said').textContent = '';
    $('#sizing-charts').replaceChildren(...sizingCharts(sizings, asked, unit));
    globalThis.adoptReport($('#sizing-charts'));
  }
}
