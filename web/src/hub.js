// A model by its name on a host of models (ORGANISATION/MODEL): its config.json, fetched when the reader asks and from nowhere else than
// the host that this page was built with; a page built without one has no such field.

import { $, make } from './dom.js';

const NAME = /^[\w.-]+\/[\w.-]+$/;
const host = () => $('meta[name="archsim-models"]')?.content;

// `use` takes the files, and the name that the link holds.
export function takeNames(use) {
  if (!host()) return;
  const { hostname } = new URL(host());
  $('#hub').hidden = false;
  $('#hub .note').textContent = `Only its config.json is fetched, from ${hostname}, when you press the button.`;
  const ask = () => use($('#hub-name').value.trim());
  $('#hub-fetch').addEventListener('click', ask);
  $('#hub-name').addEventListener('keydown', event => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    ask();
  });
  for (const kind of ['input', 'change']) $('#hub-name').addEventListener(kind, event => event.stopPropagation());
}

export async function fetchConfig(name) {
  if (!NAME.test(name) || name.includes('..')) throw new Error(`“${name}” is no name of a model: ORGANISATION/MODEL, such as Qwen/Qwen3-8B.`);
  const address = `${host().replace(/\/$/, '')}/${name}/resolve/main/config.json`;
  const response = await fetch(address, { credentials: 'omit', referrerPolicy: 'no-referrer' })
    .catch(() => { throw new Error(`${new URL(address).hostname} cannot be reached.`); });
  if (response.status === 401 || response.status === 403) throw new Error(`${name} is not open to everybody: download its config.json and drop it here.`);
  if (!response.ok) throw new Error(`${new URL(address).hostname} has no config.json of ${name} (${response.status}).`);
  return new File([await response.blob()], `${name.split('/')[1]}.json`);
}

// What a link to such a model says to who opens it.
export const askForName = name => make('span', {}, host() ? `This link asks about ${name}: press “Fetch” to see the answer.`
  : `This link asks about ${name}: drop its config.json to see the answer.`);
