// The question of the form: as the library takes it, and as the part of the address behind "#". A dropped file is never part
// of an address, nor its name.

import { $, make } from './dom.js';

const FIELDS = ['precision', 'batch', 'sort', 'scenario', 'scope', 'deployment', 'prompt-tokens', 'generate-tokens'];
const whole = input => (input.value.trim() === '' || !input.checkValidity() ? undefined : Number(input.value));

export class Form {
  constructor(picker) {
    this.picker = picker; // of devices
    this.dropped = null; // { path, name }
    this.wantedSizes = {}; // from the address, until the model is known
  }

  // What the model leaves open, with the sizes that the library would take.
  showModel(model) {
    const names = Object.keys(model.sizes).filter(name => name !== model.batch);
    $('#sizes').hidden = names.length === 0;
    $('#sizes .row').replaceChildren(...names.map(name => make('label', {}, `${name} `, make('input', {
      type: 'number', min: 1, max: 1e9, step: 1, 'data-size': name, placeholder: model.sizes[name],
      '.value': this.wantedSizes[name] ?? '' }))));
    this.wantedSizes = {};
    $('#prompt').hidden = $('#serving').hidden = !model.generates;
  }

  forgetModel() {
    $('#sizes').hidden = $('#prompt').hidden = $('#serving').hidden = true;
    $('#sizes .row').replaceChildren();
  }

  // Without "ask". Throws a sentence about a field that cannot be used.
  question() {
    const wrong = [...$('#question').elements].find(field => field.willValidate && !field.checkValidity());
    if (wrong) throw new Error(`${wrong.labels?.[0]?.textContent.trim() || 'a field'}: ${wrong.validationMessage}`);
    const model = this.dropped ? this.dropped.path : $('#model').value;
    const question = { model, batch: whole($('#batch')), scenario: $('#scenario').value, scope: $('#scope').value };
    if ($('#precision').value) question.precision = $('#precision').value;
    if ($('#sort').value) question.sort = $('#sort').value;
    const chosen = this.picker.chosen();
    if (chosen.length) question.hardware = chosen;
    else if ($('#deployment').value) question.deployment = $('#deployment').value;
    const sizes = this.sizes();
    if (Object.keys(sizes).length) question.sizes = sizes;
    const limits = this.limits();
    if (Object.keys(limits).length) question.limits = limits;
    if (!$('#prompt').hidden && (whole($('#prompt-tokens')) || whole($('#generate-tokens'))))
      question.prompt = { ...(whole($('#prompt-tokens')) && { tokens: whole($('#prompt-tokens')) }),
        ...(whole($('#generate-tokens')) && { generate: whole($('#generate-tokens')) }) };
    return question;
  }

  sizes() {
    const filled = [...document.querySelectorAll('[data-size]')].filter(input => whole(input) !== undefined);
    return { ...this.wantedSizes, ...Object.fromEntries(filled.map(input => [input.dataset.size, whole(input)])) };
  }

  limitFields() {
    return [...document.querySelectorAll('[data-limit]')].map(({ dataset, value }) => ({ key: dataset.limit, title: dataset.limit, value }));
  }

  // A field per metric that can be limited; what was filled in before stays.
  showLimits(fields) {
    const held = this.limits();
    $('#limits .row').replaceChildren(...fields.map(({ key, title, help, value }) =>
      make('label', {}, `${title} `, make('input', { 'data-limit': key, placeholder: /e\.g\. (\S+)/.exec(help)?.[1], '.value': value ?? held[key] ?? '' }))));
  }

  limits() {
    const filled = [...document.querySelectorAll('[data-limit]')].filter(input => input.value.trim());
    return Object.fromEntries(filled.map(input => [input.dataset.limit, input.value.trim()]));
  }

  // `more`: words of other forms, [[name, text]].
  address(device, more) {
    const words = new URLSearchParams();
    words.set('model', this.dropped ? '' : $('#model').value);
    for (const name of FIELDS)
      if ($(`#${name}`).value !== $(`#${name}`).dataset.usual && $(`#${name}`).value) words.set(name, $(`#${name}`).value);
    const chosen = this.picker.chosen();
    if (chosen.length) words.set('hardware', chosen.join(','));
    for (const [name, size] of Object.entries(this.sizes())) words.set(`size.${name}`, size);
    for (const [name, limit] of Object.entries(this.limits())) words.set(`limit.${name}`, limit);
    for (const [name, text] of more) words.set(name, text);
    if (device) words.set('device', device);
    return `#${words}`;
  }

  // Fills the form; what the address holds and the form does not know is left out. The answer says what no field holds.
  readAddress(address) {
    const words = new URLSearchParams(address.replace(/^#/, ''));
    for (const [name, value] of words) {
      const field = FIELDS.includes(name) ? $(`#${name}`) : null;
      if (field && (field.tagName !== 'SELECT' || [...field.options].some(option => option.value === value))) field.value = value;
      if (name.startsWith('size.') && Number.isSafeInteger(Number(value))) this.wantedSizes[name.slice(5)] = Number(value);
      if (name.startsWith('limit.')) {
        this.showLimits([...this.limitFields(), { key: name.slice(6), title: name.slice(6), value }]);
        $('#limits').open = true;
      }
    }
    return { model: words.get('model'), hardware: (words.get('hardware') || '').split(',').filter(Boolean), device: words.get('device') };
  }
}
