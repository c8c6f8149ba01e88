// The page: one question, its answer, and what the reader opens from there.

import { AskedView } from './asked_view.js';
import { DeviceView } from './device_view.js';
import { Picker } from './devices.js';
import { $, make, save, show } from './dom.js';
import { takeFiles } from './files.js';
import { Form, showFactor } from './form.js';
import { askForName, fetchConfig, takeNames } from './hub.js';
import { verdictPicture } from './picture.js';
import { asked, fromAddress, known, toAddress, withModel } from './question.js';
import { withLimits } from './limit_lines.js';
import { markDevice, showAdvice, showRanking, showSections } from './ranking_view.js';
import { keepPage, openEngine } from './start.js';

const SAMPLE = 'resnet50';
const NEAREST = 20; // devices beside one that was advised, where none was chosen
const PAUSE = 200; // milliseconds without typing before a question is asked
const VISIT = String(Math.random()); // whose files the history's entries speak of

const engine = openEngine(slow => { $('#stop').hidden = !slow || !catalogue; });
$('#stop').addEventListener('click', () => engine.stop());
const form = new Form(new Picker());
let question = fromAddress(location.hash, SAMPLE);
let answered = null; // the question that the answer shown belongs to
let catalogue = null;
let turn = 0;

const device = new DeviceView(engine, complain, changes => put({ ...question, changes }, true));
const further = new AskedView({
  ask: asks => engine.ask(asks),
  act,
  asked: () => ({ question: asked(answered), rows: shownRows }),
  moved: (ask, words) => put({ ...question, ask, words }),
});
let shownRows = []; // of the ranking, best first

let arriving = true; // at an address that was given: it becomes no second entry of the history

// Makes `changed` the question, and its address an entry of the history that Back returns from, or the present one.
function put(changed, same = false) {
  question = changed;
  const address = toAddress(question), state = { visit: VISIT, file: question.file };
  if (same || arriving || address === location.hash) history.replaceState(state, '', address);
  else history.pushState(state, '', address);
}

// Paths of dropped files are the page's own, and flags are of the tools; the reader knows names of files and of fields.
const plain = text => text.replace(/\/dropped\/\d+\//g, '').replace(/--([a-z][a-z-]*)/g, (all, flag) => flag.replaceAll('-', ' '));

// Says what went wrong beside what was pressed.
function complain(problem, beside = $('#status')) {
  beside.after($('#problem'));
  $('#problem').textContent = plain(problem.message);
  $('#problem').hidden = false;
  $('#status').textContent = '';
}

const busy = whether => $('main').setAttribute('aria-busy', whether);

// What no action expected is said too, and ends what was awaited.
for (const kind of ['error', 'unhandledrejection'])
  addEventListener(kind, event => {
    const problem = event.error ?? event.reason;
    if (!problem) return;
    complain(problem instanceof Error ? problem : new Error(String(problem)));
    busy(false);
  });

// Runs one reader's action; what went wrong is said in a sentence, without the answer to an earlier question (`forget`) beside it.
// What is still asked for an earlier action is not shown.
async function act(text, action, beside, forget = () => {}) {
  const mine = ++turn;
  busy(true);
  $('#problem').hidden = true;
  $('#status').textContent = text;
  try {
    await action(() => mine === turn);
    if (mine === turn) $('#status').textContent = '';
  } catch (problem) {
    if (mine === turn) {
      forget();
      complain(problem, beside);
    }
  } finally {
    if (mine === turn) busy(false);
  }
}

// No answer is shown any more: that of another question would stand under this one's name.
function clearAnswer() {
  $('#answer').hidden = true;
  for (const id of ['#verdict', '#ranking']) $(id).replaceChildren();
  answered = null;
  device.hide();
}

// Shows the ranking of `wanted`, which becomes the question.
async function rank(wanted, current) {
  const fresh = !answered || answered.model !== wanted.model || answered.file?.path !== wanted.file?.path;
  const named = wanted.file || wanted.model;
  if (fresh) {
    clearAnswer();
    form.forgetModel();
  }
  put(wanted);
  if (!wanted.device) device.hide();
  $('#file-note').replaceChildren(wanted.file ? `${wanted.file.name}, read in this page.`
    : named ? '' : wanted.hub ? askForName(wanted.hub) : 'This link asks about a model file: drop it to see the answer.');
  if (wanted.hub) $('#hub-name').value = wanted.hub;
  if (!named) return;
  const asks = asked(wanted);
  try {
    const answer = await engine.ask({ ...asks, ask: 'rank' });
    if (!current()) return;
    answered = wanted;
    shownRows = answer.rows;
    further.forget();
    showRanking(answer, chooseDevice);
    showAdvice(answer, advised);
    for (const [lever, factor] of Object.entries(wanted.all)) $('#model-title').append(`, ${lever.replaceAll('_', ' ')} of every device ×${factor}`);
    $('#answer').hidden = false;
    $('#answer').dataset.count = Number($('#answer').dataset.count || 0) + 1;
    performance.mark('ranked');
  } catch (problem) {
    if (current()) clearAnswer();
    throw problem;
  } finally {
    // Sizes that the file leaves open get fields, whether or not there is an answer without them.
    if (fresh && current() && catalogue) await showModel(asks.model);
  }
}

async function showModel(model) {
  form.showModel(await engine.ask({ ask: 'model', model }), question);
}

// The rest of what the question asks: the device looked at, and the answer below the ranking.
async function openRest(current) {
  if (question.device && current()) await openDevice(question.device, current);
  if (question.ask && current()) await further.answer(question.ask, current);
}

async function openDevice(hardware, current) {
  const { limits, deployment, ...rest } = asked(answered);
  await device.show({ ...rest, hardware: [hardware] }, question.device === hardware ? question.changes : {});
  if (!current()) return;
  markDevice(hardware);
  put({ ...question, device: hardware, changes: device.changes() });
}

const chooseDevice = hardware => act(`Looking at ${hardware}`, async current => {
  await openDevice(hardware, current);
  if (!current()) return;
  $('#device').scrollIntoView({ block: 'start', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
  $('#device').focus({ preventScroll: true });
});

// What was tried and helps, asked for: fields of the question, or another device in the place of one.
const advised = (fields, hardware) => act('Estimating', async current => {
  const device = name => name.split('@')[0];
  const others = question.hardware.length ? question.hardware : shownRows.slice(0, NEAREST).map(row => row.hardware);
  const devices = hardware ? [hardware, ...others.filter(name => device(name) !== device(hardware))] : question.hardware;
  const wanted = { ...question, fields: { ...question.fields, ...fields }, hardware: devices, ask: '' };
  form.show(wanted);
  await rank(wanted, current);
  await openRest(current);
});

// The form ------------------------------------------------------------------------------------------------------------
let pause;
function changed() {
  clearTimeout(pause);
  busy(true);
  pause = setTimeout(() => act('Estimating', async current => {
    // Other conditions: what was answered below was no answer to them.
    await rank({ ...form.changed(question), ask: '' }, current);
    await openRest(current);
  }), PAUSE);
}
$('#question').addEventListener('submit', event => event.preventDefault());
$('#question').addEventListener('input', event => {
  if (!['model', 'file'].includes(event.target.id) && event.target.type !== 'search') changed();
});
$('#all-bandwidth').addEventListener('input', event => {
  showFactor(event.target);
  changed();
});
$('#deployment').addEventListener('change', () => form.picker.choose([]));
$('#model').addEventListener('change', () => {
  const held = $('#model').value === 'dropped' ? $('#model').selectedOptions[0].held : null;
  act('Estimating', current => rank(withModel(form.changed(question), held ? '' : $('#model').value, held), current));
});
async function readModel(files, model, hub, current) {
  const file = { path: await engine.mount(files, model.name), name: model.name };
  const kept = form.changed(question), awaited = !question.model && !question.file; // the question of a link
  const wanted = { ...(awaited ? { ...kept, file } : withModel(kept, '', file)), hub };
  chooseModel(wanted);
  await rank(wanted, current);
}
takeFiles((files, model) => act(`Reading ${model.name}`, current => readModel(files, model, '', current)));
takeNames(name => act(`Fetching config.json of ${name}`, async current => {
  const file = await fetchConfig(name);
  await readModel([file], file, name, current);
}, $('#hub')));

// The model of the question in the list, dropped ones among them.
function chooseModel({ model, file }) {
  if (file) {
    $('#model option[value=dropped]')?.remove();
    $('#model').prepend(make('option', { value: 'dropped', '.selected': true, '.held': file }, `file ${file.name}`));
  } else {
    $('#model').value = model;
  }
}

// What follows from the answer ------------------------------------------------------------------------------------------
$('#explain').addEventListener('click', () => act('Explaining', async current => {
  const { limits, deployment, ...rest } = asked(answered);
  const { sections } = await engine.ask({ ...rest, ask: 'explain', metric: $('#metric').value, hardware: [$('#explain-a').value, $('#explain-b').value] });
  if (current()) showSections($('#explanation'), sections, true);
}, $('#explain').parentElement, () => $('#explanation').replaceChildren()));
$('#draw-charts').addEventListener('click', () => act('Drawing', async current => {
  const { charts } = await engine.ask({ ...asked(answered), ask: 'rank', charts: true });
  if (current()) show($('#charts'), withLimits(charts, question.limits));
}, $('#draw-charts')));
$('#share').addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    $('#said').textContent = question.file ? 'Copied: the question, without the model.' : 'Copied.';
  } catch {
    $('#said').textContent = 'The address of this page is the link.';
  }
});
$('#picture').addEventListener('click', async () => save(await verdictPicture(), 'image/png', `${(answered.file?.name ?? answered.model).replace(/\.[^.]*$/, '')}.png`));
for (const button of document.querySelectorAll('[data-export]'))
  button.addEventListener('click', () => act('Writing', async () => {
    const format = button.dataset.export;
    const date = new Date().toISOString().slice(0, 10);
    const { text } = await engine.ask({ ...asked(answered), ask: 'export', format, date });
    const type = { html: 'text/html', json: 'application/json', csv: 'text/csv' }[format];
    save(text, type, `${(answered.file?.name ?? answered.model).replace(/\.[^.]*$/, '')}.${format}`);
  }, button.parentElement));

// Back, Forward, and a link that is put into the address of the open page.
addEventListener('popstate', event => act('Estimating', current => arrive(current, async () => {
  const file = event.state?.visit === VISIT ? event.state.file : null;
  let wanted = { ...fromAddress(location.hash, SAMPLE), file };
  let said = [], nothing = false;
  if (catalogue) ({ kept: wanted, said, nothing } = await understood(wanted));
  if (!wanted.device) device.hide();
  question = wanted;
  chooseModel(wanted);
  form.show(wanted);
  further.fill(wanted);
  if (nothing) clearAnswer();
  else await rank(wanted, current);
  form.show(wanted);
  if (!nothing) await openRest(current);
  if (said.length && current()) throw new Error(said.join(' '));
})));

// A link's question in the library's words: see known().
async function understood(link) {
  const { model, hardware } = asked(link);
  const names = await engine.ask({ ask: 'names', model, hardware: [...hardware ?? [], ...link.device ? [link.device] : []] });
  return known(link, names, catalogue);
}

async function arrive(current, action) {
  arriving = true;
  try {
    await action();
  } finally {
    if (current()) arriving = false;
  }
}

// The beginning -----------------------------------------------------------------------------------------------------------
function fillCatalogue({ models, devices, deployments, precisions, metrics, changes, fields, ...forms }) {
  const tasks = [...new Set(models.map(model => model.task))].sort();
  $('#model').replaceChildren(make('option', { value: '' }, 'choose one'), ...tasks.map(task => make('optgroup', { label: task.replaceAll('-', ' ') },
    ...models.filter(model => model.task === task).map(model => make('option', { value: model.name }, model.title)))));
  $('#deployment').replaceChildren(make('option', { value: '' }, `all ${devices.length} devices`),
    ...deployments.map(({ id, title }) => make('option', { value: id }, title)));
  $('#precision').replaceChildren(make('option', { value: '' }, 'each device’s usual'), ...precisions.map(name => make('option', {}, name)));
  $('#sort').replaceChildren(make('option', { value: '' }, 'by the load'), ...metrics.map(({ key, title }) => make('option', { value: key }, title)));
  $('#metric').replaceChildren(...metrics.map(({ key, title }) => make('option', { value: key }, title)));
  form.picker.show(devices);
  form.showFields(metrics.filter(({ help }) => help), fields);
  device.showSliders(changes);
  further.showForms(forms, fields);
}

act('Starting', current => arrive(current, async () => {
  // The first answer does not wait for the lists of the form, nor do these for a first answer that fails.
  const problem = await rank(question, current).catch(failed => failed);
  catalogue = await engine.ask({ ask: 'catalogue' });
  fillCatalogue(catalogue);
  const { kept: wanted, said, nothing } = await understood(question);
  // The rows of an answer are named as it was asked, and the form knows the library's names.
  const renamed = wanted.model !== question.model || `${wanted.hardware}` !== `${question.hardware}`;
  question = wanted;
  chooseModel(wanted);
  form.show(wanted);
  further.fill(wanted);
  if (nothing) clearAnswer();
  else if (said.length || renamed) await rank(wanted, current);
  else if (wanted.model) await showModel(wanted.model);
  if (problem && !said.length) throw problem;
  if (!nothing) await openRest(current);
  if (said.length) throw new Error(said.join(' '));
})).finally(async () => {
  // Where a browser keeps nothing (a private window, no room), the page works as long as there is a network.
  $('#kept').hidden = !await keepPage().catch(() => false);
});
