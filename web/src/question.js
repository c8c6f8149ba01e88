// The question is one object; the form, the address and what the library is asked are views of it:
//   { model, file: { path, name } of a dropped file, fields: { key: text } as the library names them, hardware: [names],
//     sizes: { name: number }, limits: { metric: text }, all: { lever: factor } of every device, device: the one looked at, changes: { lever: factor } of it,
//     hub: ORGANISATION/MODEL of a file that came from a host of models, ask: what else is answered (serve, most, size, cost), words: { "load.rate": text } of that }
// A dropped file is never part of an address, nor its name.

// What the library takes where a field says nothing: left out of addresses.
const USUAL = { batch: '1', scenario: 'latency', scope: 'kernel' };
const OF_PROMPTS = ['prompt_tokens', 'generate_tokens'];
const ASKS = ['serve', 'most', 'size', 'cost'];
const OTHER_WORDS = /^(load|level|cost)\./;
const PARTS = { size: ['sizes', Number], limit: ['limits', String], all: ['all', Number], change: ['changes', Number] };

export function newQuestion(model) {
  return { model, file: null, hub: '', fields: { ...USUAL }, hardware: [], sizes: {}, limits: {}, all: {}, device: '', changes: {}, ask: '', words: {} };
}

// The question with another model: what only the former model had is gone.
export function withModel(question, model, file) {
  const fields = Object.fromEntries(Object.entries(question.fields).filter(([key]) => !OF_PROMPTS.includes(key)));
  return { ...question, model, file, hub: '', fields, sizes: {}, device: '', changes: {}, ask: '' };
}

export function toAddress(question) {
  const words = new URLSearchParams();
  words.set('model', question.file ? '' : question.model);
  if (question.hub) words.set('hub', question.hub);
  for (const [key, text] of Object.entries(question.fields)) if (text && text !== USUAL[key]) words.set(key, text);
  if (question.hardware.length) words.set('hardware', question.hardware.join(','));
  for (const [prefix, [part]] of Object.entries(PARTS))
    if (part !== 'changes' || question.device)
      for (const [name, value] of Object.entries(question[part])) words.set(`${prefix}.${name}`, value);
  if (question.ask) {
    words.set('ask', question.ask);
    for (const [word, text] of Object.entries(question.words)) words.set(word, text);
  }
  if (question.device) words.set('device', question.device);
  return `#${words}`;
}

export function fromAddress(address, sample) {
  const words = new URLSearchParams(address.replace(/^#/, ''));
  const question = newQuestion(words.get('model') ?? sample);
  for (const [word, text] of words) {
    const [, prefix, name] = /^(size|limit|all|change)\.(.+)$/.exec(word) ?? [];
    if (prefix) question[PARTS[prefix][0]][name] = PARTS[prefix][1](text);
    else if (OTHER_WORDS.test(word)) question.words[word] = text;
    else if (word === 'hardware') question.hardware = text.split(',').filter(Boolean);
    else if (word === 'device' || word === 'ask' || word === 'hub') question[word] = text;
    else if (word !== 'model') question.fields[word.replaceAll('-', '_')] = text;
  }
  return question;
}

const whole = text => /^\d{1,15}$/.test(text);

// The question without what nobody here knows, and a sentence for each word left out. `names` is how the library writes the names
// of a link: { hardware: { "RTX 3070": "RTX-3070" }, model: "bert-large" }. `nothing`: of devices that were named none is left, and all
// would be an answer to a wider question.
export function known(question, names, { devices, deployments, precisions, metrics, changes, fields, load, level, costs }) {
  const said = [], kept = { ...question };
  const has = (list, key) => name => list.some(one => one[key] === name);
  // What begins with a device's own name stays as it is written: a power limit that was asked for is said, the usual one too.
  const written = name => devices.some(({ id }) => id === name.split('@')[0]) ? name : names.hardware[name];
  const device = name => names.hardware[name] ? written(name) : leave('The device', name) || '';
  const metric = has(metrics, 'key');
  const wrong = { precision: text => !precisions.includes(text), deployment: text => !has(deployments, 'id')(text),
    sort: text => !metric(text), batch: text => !whole(text) };
  const leave = (what, text) => { said.push(`${what} “${text}” is nothing that this page knows; it is left out.`); return false; };
  const only = (part, test, what) => Object.fromEntries(Object.entries(question[part]).filter(([name, value]) => test(name, value) || leave(what, name)));
  if (question.model && !question.file) kept.model = names.model || leave('The model', question.model) || '';
  kept.fields = Object.fromEntries(Object.entries(question.fields).filter(([key, text]) => {
    const field = fields.find(one => one.key === key);
    if (!field && !wrong[key]) return leave('The word', key);
    const good = wrong[key] ? text === '' || !wrong[key](text) : !field.choices.length || field.choices.includes(text);
    return good || leave(`The ${key.replaceAll('_', ' ')}`, text);
  }));
  const forms = { load, level, cost: costs };
  kept.words = only('words', word => forms[word.split('.')[0]].some(({ key }) => word.slice(word.indexOf('.') + 1) === key), 'The word');
  if (kept.ask && !ASKS.includes(kept.ask)) kept.ask = leave('The question', kept.ask) || '';
  for (const [key, usual] of Object.entries(USUAL)) kept.fields[key] ||= usual;
  kept.hardware = question.hardware.map(device).filter(Boolean);
  if (kept.device) kept.device = device(kept.device);
  kept.sizes = only('sizes', (name, size) => Number.isSafeInteger(size) && size >= 0, 'The size');
  kept.limits = only('limits', metric, 'The limit');
  const changed = (name, factor) => changes.includes(name) && factor > 0 && Number.isFinite(factor);
  kept.changes = only('changes', changed, 'The change');
  kept.all = only('all', changed, 'The change');
  return { kept, said, nothing: question.hardware.length > 0 && kept.hardware.length === 0 };
}

// What the library is asked, without "ask".
export function asked({ model, file, fields, hardware, sizes, limits, all }) {
  const given = Object.fromEntries(Object.entries(fields).filter(([, text]) => text)
    .map(([key, text]) => [key, text === 'true' ? true : whole(text) ? Number(text) : text]));
  const { deployment, ...rest } = given;
  return { ...rest, model: file?.path ?? model, ...(hardware.length ? { hardware } : deployment && { deployment }),
    ...(Object.keys(all).length && { changes: all }), ...(Object.keys(sizes).length && { sizes }), ...(Object.keys(limits).length && { limits }) };
}
