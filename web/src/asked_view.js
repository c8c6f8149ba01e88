// What else is asked of a model, in forms that the library describes: how many users devices serve, how many devices a load
// takes, what an inference costs. A field's word ("load.rate") is its name in the address too.

import { $, make, show } from './dom.js';
import { showSections } from './ranking_view.js';

const BEST = 5; // devices that are asked where none is chosen: those that rank best
const SHOWN = ['rate', 'concurrency', 'prompt_tokens', 'output_tokens'];
const FILLED = { prompt_tokens: '2000', output_tokens: '300' };
const plain = text => text.replaceAll('_', ' ').replace(/--([a-z-]+)/g, (all, flag) => flag.replaceAll('-', ' '));
const example = help => /, (\d\S+)$/.exec(help)?.[1].replace(/^/, 'such as ');
const TITLES = { rate: 'requests per second', concurrency: 'users at once', prompt_tokens: 'tokens of a prompt', output_tokens: 'tokens of an answer',
  ttft_p99: 'P99 to first token', tpot_p99: 'P99 per token', e2e_p99: 'P99 of an answer', kwh_price: 'USD per kWh', pue: 'PUE',
  grid_intensity: 'g CO2e per kWh', utilization: 'share of time at work', years: 'years of use', tenure: 'rent or buy', prices: 'own prices' };
// How devices are paid for, and what a form of the page leaves to the library.
const CHOICES = { tenure: ['rent', 'buy'] };

export class AskedView {
  // `ask` asks the engine; `act` runs a reader's action; `devices` are the names to ask of; `moved` is told when the address changes.
  constructor({ ask, act, asked, moved }) {
    Object.assign(this, { ask, act, asked, moved });
    this.wanted = {}; // word -> text, from the address, until the forms are there
    this.kind = ''; // of the answer shown: serve, most, size or cost
    this.documents = {}; // the answers as JSON, by the place where they are shown
    for (const [form, kind] of [['#server', () => $('#server-kind').value], ['#costs', () => 'cost']]) {
      $(form).addEventListener('submit', event => {
        event.preventDefault();
        this.act('Working it out', current => this.answer(kind(), current));
      });
    }
    $('#server-json').addEventListener('click', () => {
      const url = URL.createObjectURL(new Blob([this.documents.server], { type: 'application/json' }));
      make('a', { href: url, download: `${this.kind === 'size' ? 'size_service' : 'serve_model'}.json` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60000);
    });
  }

  // The forms, from the library's tables of fields.
  showForms({ load, level, costs }) {
    const field = prefix => ({ key, help, usual, truth, choices = CHOICES[key] ?? [] }) => {
      const word = `${prefix}.${key}`, held = this.wanted[word] ?? FILLED[key] ?? '';
      const common = { 'data-word': word, title: plain(help) };
      const input = truth ? make('input', { ...common, type: 'checkbox', '.checked': held === 'true' })
        : choices.length ? make('select', common, make('option', { value: '' }, usual || 'as usual'),
          ...choices.map(name => make('option', { '.selected': name === held }, name)))
          : make('input', { ...common, placeholder: usual ? plain(usual) : example(help), '.value': held });
      return make('label', { class: 'field' }, make('span', {}, TITLES[key] ?? plain(key)), input);
    };
    const first = load.filter(({ key }) => SHOWN.includes(key));
    const rest = load.filter(({ key, group }) => !SHOWN.includes(key) && group !== 'Energy and carbon');
    $('#server-fields').replaceChildren(...first.map(field('load')), ...level.map(field('level')));
    $('#server-further .fields').replaceChildren(...rest.map(field('load')));
    $('#server-further').open = rest.some(({ key }) => this.wanted[`load.${key}`]);
    $('#cost-fields').replaceChildren(...costs.map(field('cost')));
    this.wanted = {};
  }

  readAddress(words) {
    for (const [name, value] of words) if (/^(load|level|cost)\./.test(name)) this.wanted[name] = value;
    const kind = words.get('ask') ?? '';
    if ([...$('#server-kind').options].some(option => option.value === kind)) $('#server-kind').value = kind;
    return kind;
  }

  // What the address says of these forms, where an answer of theirs is shown.
  words() {
    if (!this.kind) return [];
    const part = this.kind === 'cost' ? /^cost\./ : this.kind === 'size' ? /^(load|level|cost)\./ : /^(load|level)\./;
    return [['ask', this.kind], ...Object.entries(this.filled()).filter(([word]) => part.test(word))];
  }

  filled() {
    const fields = [...document.querySelectorAll('[data-word]')].map(input =>
      [input.dataset.word, input.type === 'checkbox' ? (input.checked ? 'true' : '') : input.value.trim()]);
    return Object.fromEntries(fields.filter(([, text]) => text));
  }

  part(prefix, without = []) {
    return Object.fromEntries(Object.entries(this.filled()).filter(([word]) => word.startsWith(`${prefix}.`))
      .map(([word, text]) => [word.slice(prefix.length + 1), text]).filter(([key]) => !without.includes(key)));
  }

  // Another model or other conditions: what was answered before is no answer to them.
  forget() {
    this.kind = '';
    $('#served').replaceChildren();
    $('#costed').replaceChildren();
    $('#server-json').hidden = true;
  }

  async answer(kind, current) {
    const { question, best } = this.asked();
    const hardware = question.hardware?.length ? question.hardware : best.slice(0, BEST);
    const whose = question.hardware?.length ? '' : `Of the ${hardware.length} devices that rank best; choose others above.`;
    if (kind === 'cost') {
      const { html } = await this.ask({ ...question, deployment: undefined, hardware, ask: 'cost', costs: this.part('cost') });
      if (!current()) return;
      show($('#costed'), html);
      $('#costed').prepend(make('p', { class: 'note' }, whose));
    } else {
      const { model, precision, sizes } = question;
      const asks = { model, precision, sizes, hardware };
      if (kind === 'serve') Object.assign(asks, { ask: 'serve', load: this.part('load') });
      // The rate is what is looked for.
      if (kind === 'most') Object.assign(asks, { ask: 'serve', load: this.part('load', ['rate', 'concurrency', 'arrivals']), level: this.part('level', ['confidence']) });
      if (kind === 'size') Object.assign(asks, { ask: 'size', load: this.part('load'), level: this.part('level'), costs: this.part('cost') });
      const { sections, json } = await this.ask(asks);
      if (!current()) return;
      this.documents.server = json;
      showSections($('#served'), sections, true);
      $('#served').prepend(make('p', { class: 'note' }, whose));
      $('#server-json').hidden = false;
    }
    this.kind = kind;
    this.moved();
  }
}
