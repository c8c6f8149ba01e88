// Which devices, by family, each with its power limits.

import { $, make } from './dom.js';

export class Picker {
  constructor() {
    this.boxes = [];
    this.wanted = []; // from the address, until the devices are known
    $('#device-filter').addEventListener('input', event => {
      event.stopPropagation();
      this.filter(event.target.value.toLowerCase().split(/\s+/).filter(Boolean));
    });
  }

  show(devices) {
    const families = [...new Set(devices.map(device => device.family))];
    $('#devices').replaceChildren(...families.map(family => make('fieldset', {},
      make('legend', {}, family), ...devices.filter(device => device.family === family).map(device => this.row(device)))));
    this.choose(this.wanted);
  }

  row(device) {
    const box = make('input', { type: 'checkbox', value: device.id });
    const row = make('div', { class: 'device' }, make('label', {}, box, ` ${device.id}`));
    const item = { box, row, words: `${device.id} ${device.name} ${device.vendor} ${device.family}`.toLowerCase() };
    if (device.power_modes.length > 1) {
      item.mode = make('select', { 'aria-label': `Power limit of ${device.id}` },
        ...device.power_modes.map(mode => make('option', { '.selected': mode === device.default_power_mode }, mode)));
      item.usual = device.default_power_mode;
      item.mode.addEventListener('change', () => { box.checked = true; });
      row.append(item.mode);
    }
    this.boxes.push(item);
    return row;
  }

  filter(words) {
    for (const { row, words: text } of this.boxes) row.hidden = !words.every(word => text.includes(word));
  }

  chosen() {
    if (this.boxes.length === 0) return this.wanted;
    return this.boxes.filter(({ box }) => box.checked).map(({ box, mode, usual }) =>
      mode && mode.value !== usual ? `${box.value}@${mode.value}` : box.value);
  }

  choose(names) {
    this.wanted = names;
    const modes = new Map(names.map(name => [name.split('@')[0].toLowerCase(), name.split('@')[1]]));
    for (const { box, mode } of this.boxes) {
      box.checked = modes.has(box.value.toLowerCase());
      if (box.checked && mode && modes.get(box.value.toLowerCase())) mode.value = modes.get(box.value.toLowerCase());
    }
    if (names.length) $('#choice').open = true;
  }
}
