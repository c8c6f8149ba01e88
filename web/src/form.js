// The form: a view of the question, and what the reader changes in it.

import { $, make } from './dom.js';

// Fields that stand in the page; the library describes the others.
const STATED = ['precision', 'batch', 'sort', 'scenario', 'scope', 'deployment', 'prompt_tokens', 'generate_tokens'];
const all = selector => [...document.querySelectorAll(selector)];
const textOf = input => (input.type === 'checkbox' ? (input.checked ? 'true' : '') : input.value.trim());

// What a slider stands at, beside it.
export function showFactor(slider) {
  slider.previousElementSibling.textContent = slider.ariaValueText = `×${(2 ** slider.value).toFixed(2)}`;
}

// Throws a sentence about a field of the form that cannot be used.
export function checkFields(form) {
  const wrong = [...form.elements].find(field => field.willValidate && !field.checkValidity());
  if (wrong) throw new Error(`${wrong.labels?.[0]?.textContent.trim() || 'a field'}: ${wrong.validationMessage}`);
}

export class Form {
  constructor(picker) {
    this.picker = picker; // of devices
    // On a small screen the answer comes first; where there is room all of it is open (page.css).
    const small = matchMedia('(max-width: 46rem)');
    const fold = () => { $('#more').open = !small.matches; };
    small.addEventListener('change', fold);
    fold();
  }

  // A field per metric that can be limited, and one for each that the library has beside those of the page.
  showFields(metrics, fields) {
    $('#limits .row').replaceChildren(...metrics.map(({ key, title, help }) =>
      make('label', {}, `${title} `, make('input', { 'data-limit': key, placeholder: /e\.g\. (\S+)/.exec(help)?.[1] }))));
    $('#further .fields').replaceChildren(...fields.filter(({ key }) => !STATED.includes(key)).map(({ key, help, choices, truth, usual }) => {
      const common = { 'data-field': key, title: help };
      const input = truth ? make('input', { ...common, type: 'checkbox' })
        : choices.length ? make('select', common, make('option', { value: '' }, usual || 'as usual'), ...choices.map(name => make('option', {}, name)))
          : make('input', { ...common, placeholder: usual });
      return make('label', { class: 'field' }, make('span', {}, key.replaceAll('_', ' ')), input);
    }));
  }

  // What the model leaves open, with the sizes that the library would take; null: the file does not say, so the reader must.
  showModel(model, question) {
    const names = Object.keys(model.sizes).filter(name => name !== model.batch);
    $('#sizes').hidden = names.length === 0;
    $('#sizes .row').replaceChildren(...names.map(name => make('label', {}, `${name} `, make('input', {
      type: 'number', min: 1, max: 1e9, step: 1, 'data-size': name, placeholder: model.sizes[name] ?? 'needed', '.value': question.sizes[name] ?? '' }))));
    $('#prompt').hidden = $('#serving').hidden = !model.generates;
  }

  forgetModel() {
    $('#sizes').hidden = $('#prompt').hidden = $('#serving').hidden = true;
    $('#sizes .row').replaceChildren();
  }

  show(question) {
    for (const input of all('[data-field]')) {
      const text = question.fields[input.dataset.field] ?? '';
      if (input.type === 'checkbox') input.checked = text === 'true';
      else if (input.tagName !== 'SELECT' || [...input.options].some(option => option.value === text)) input.value = text;
    }
    for (const input of all('[data-size]')) input.value = question.sizes[input.dataset.size] ?? '';
    for (const input of all('[data-limit]')) input.value = question.limits[input.dataset.limit] ?? '';
    $('#limits').open ||= Object.keys(question.limits).length > 0;
    $('#further').open ||= all('#further [data-field]').some(textOf);
    $('#all-bandwidth').value = Math.log2(question.all.bandwidth ?? 1);
    showFactor($('#all-bandwidth'));
    this.picker.choose(question.hardware);
  }

  // The question as the form has it now; what no field holds yet stays as it was.
  changed(question) {
    checkFields($('#question'));
    const filled = (selector, name, held, value) => {
      const made = { ...held };
      for (const input of all(selector)) {
        if (input.options?.length === 0) continue; // what can be chosen is not known yet
        const text = textOf(input);
        if (text) made[input.dataset[name]] = value(text);
        else delete made[input.dataset[name]];
      }
      return made;
    };
    const { bandwidth, ...levers } = question.all, factor = Number((2 ** $('#all-bandwidth').value).toFixed(4));
    if (factor !== 1) levers.bandwidth = factor;
    return { ...question, fields: filled('[data-field]', 'field', question.fields, String), sizes: filled('[data-size]', 'size', question.sizes, Number),
      limits: filled('[data-limit]', 'limit', question.limits, String), hardware: this.picker.chosen(), all: levers };
  }
}
