// The page: a form, its answer, and what the reader opens from there.

import { AskedView } from './asked_view.js';
import { DeviceView } from './device_view.js';
import { Picker } from './devices.js';
import { $, make, show } from './dom.js';
import { takeFiles } from './files.js';
import { Form } from './question.js';
import { markDevice, showRanking, showSections } from './ranking_view.js';
import { keepPage, openEngine } from './start.js';

const SAMPLE = 'resnet50';
const USUAL = { precision: '', batch: '1', scenario: 'latency', scope: 'kernel', deployment: '' }; // left out of addresses
const PAUSE = 200; // milliseconds without typing before a question is asked

const engine = openEngine();
const picker = new Picker(() => {});
const form = new Form(picker);
const device = new DeviceView(engine, complain);
const further = new AskedView({
  ask: question => engine.ask(question),
  act,
  asked: () => ({ question: asked, best: [...document.querySelectorAll('#ranking tbody tr[data-status=ok]')].map(row => row.dataset.hardware) }),
  moved: () => history.replaceState(null, '', address()),
});
let asked = null; // the question that the answer shown belongs to
let turn = 0;

const address = () => form.address(device.question?.hardware[0], further.words());

// Paths of dropped files are the page's own; the reader knows their names.
const plain = text => text.replace(/\/dropped\/\d+\//g, '');

function complain(problem) {
  $('#problem').textContent = plain(problem.message);
  $('#problem').hidden = false;
  $('#status').textContent = '';
}

// Runs one reader's action; what went wrong is said in a sentence.
async function act(text, action) {
  const mine = ++turn;
  $('#problem').hidden = true;
  $('#status').textContent = text;
  try {
    await action(() => mine === turn);
    if (mine === turn) $('#status').textContent = '';
  } catch (problem) {
    if (mine === turn) complain(problem);
  }
}

// Asks for the ranking of the form's model; `fresh`: the model is another one.
async function rank(current, fresh) {
  const question = form.question();
  if (!question.model) {
    $('#answer').hidden = true;
    return;
  }
  const answer = await engine.ask({ ...question, ask: 'rank' });
  if (!current()) return;
  asked = question;
  further.forget();
  showRanking(answer, chooseDevice);
  $('#answer').hidden = false;
  $('#answer').dataset.count = Number($('#answer').dataset.count || 0) + 1;
  performance.mark('ranked');
  if (fresh) {
    device.hide();
    form.showModel(await engine.ask({ ask: 'model', model: question.model }));
  } else if (device.question) {
    await openDevice(device.question.hardware[0]);
  }
  history.replaceState(null, '', address());
}

async function openDevice(hardware) {
  const { limits, deployment, ...rest } = asked;
  await device.show({ ...rest, hardware: [hardware] });
  markDevice(hardware);
  history.replaceState(null, '', address());
}

const chooseDevice = hardware => act(`Looking at ${hardware}`, async () => {
  await openDevice(hardware);
  $('#device').scrollIntoView({ block: 'start', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
  $('#device').focus({ preventScroll: true });
});

// The form ------------------------------------------------------------------------------------------------------------
let pause;
$('#question').addEventListener('submit', event => event.preventDefault());
$('#question').addEventListener('input', event => {
  if (event.target.id === 'model' || event.target.type === 'search') return;
  clearTimeout(pause);
  pause = setTimeout(() => act('Estimating', current => rank(current, false)), PAUSE);
});
$('#deployment').addEventListener('change', () => picker.choose([]));
$('#model').addEventListener('change', () => {
  if ($('#model').value !== 'dropped') form.dropped = null;
  form.forgetModel();
  act('Estimating', current => rank(current, true));
});
takeFiles((files, model) => act(`Reading ${model.name}`, async current => {
  form.dropped = { path: await engine.mount(files, model.name), name: model.name };
  $('#model option[value=dropped]')?.remove();
  $('#model').prepend(make('option', { value: 'dropped', '.selected': true }, `file ${model.name}`));
  $('#file-note').textContent = `${model.name}: ${(model.size / 1e6).toFixed(1)} MB, read in this page.`;
  form.forgetModel();
  await rank(current, true);
}));

// What follows from the answer ------------------------------------------------------------------------------------------
$('#explain').addEventListener('click', () => act('Explaining', async current => {
  const { limits, deployment, ...rest } = asked;
  const { sections } = await engine.ask({ ...rest, ask: 'explain', metric: $('#metric').value, hardware: [$('#explain-a').value, $('#explain-b').value] });
  if (current()) showSections($('#explanation'), sections, true);
}));
$('#draw-charts').addEventListener('click', () => act('Drawing', async current => {
  const { charts } = await engine.ask({ ...asked, ask: 'rank', charts: true });
  if (current()) show($('#charts'), charts);
}));
$('#share').addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    $('#said').textContent = form.dropped ? 'Copied: the question, without the model.' : 'Copied.';
  } catch {
    $('#said').textContent = 'The address of this page is the link.';
  }
});
for (const button of document.querySelectorAll('[data-export]'))
  button.addEventListener('click', () => act('Writing', async () => {
    const format = button.dataset.export;
    const date = new Date().toISOString().slice(0, 10);
    const { text } = await engine.ask({ ...asked, ask: 'export', format, date });
    const type = { html: 'text/html', json: 'application/json', csv: 'text/csv' }[format];
    const url = URL.createObjectURL(new Blob([text], { type }));
    const name = (form.dropped?.name ?? asked.model).replace(/\.[^.]*$/, '');
    make('a', { href: url, download: `${name}.${format}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  }));

// The beginning -----------------------------------------------------------------------------------------------------------
function fillCatalogue({ models, devices, deployments, precisions, metrics, changes, ...forms }) {
  const tasks = [...new Set(models.map(model => model.task))].sort();
  const chosen = $('#model').value;
  $('#model').replaceChildren(make('option', { value: '' }, 'choose one'), ...tasks.map(task => make('optgroup', { label: task.replaceAll('-', ' ') },
    ...models.filter(model => model.task === task).map(model => make('option', { value: model.name }, model.title)))));
  $('#model').value = chosen;
  $('#deployment').replaceChildren(make('option', { value: '' }, `all ${devices.length} devices`),
    ...deployments.map(({ id, title }) => make('option', { value: id }, title)));
  $('#precision').replaceChildren(make('option', { value: '' }, 'as usual'), ...precisions.map(name => make('option', {}, name)));
  $('#sort').replaceChildren(make('option', { value: '' }, 'by the load'), ...metrics.map(({ key, title }) => make('option', { value: key }, title)));
  $('#metric').replaceChildren(...metrics.map(({ key, title }) => make('option', { value: key }, title)));
  form.showLimits(metrics.filter(({ help }) => help));
  picker.show(devices);
  device.showSliders(changes);
  further.showForms(forms);
}

act('Starting', async current => {
  const words = new URLSearchParams(location.hash.slice(1));
  const model = words.get('model') ?? SAMPLE;
  // The first answer does not wait for the lists of the form.
  $('#model').append(make('option', { value: model, '.selected': true }, model));
  $('#precision').append(make('option', { value: words.get('precision') ?? '', '.selected': true }, words.get('precision') ?? 'as usual'));
  for (const id of ['deployment', 'sort']) $(`#${id}`).append(make('option', { value: words.get(id) ?? '', '.selected': true }, words.get(id) ?? ''));
  const linked = form.readAddress(location.hash);
  picker.wanted = linked.hardware;
  const kind = further.readAddress(words);
  for (const [id, value] of Object.entries(USUAL)) $(`#${id}`).dataset.usual = value;
  if (model === '') $('#file-note').textContent = 'This link asks about a model file: drop it to see the answer.';
  else await rank(current, false);
  const catalogue = await engine.ask({ ask: 'catalogue' });
  const held = Object.fromEntries(['precision', 'deployment', 'sort'].map(id => [id, $(`#${id}`).value]));
  fillCatalogue(catalogue);
  for (const [id, value] of Object.entries(held)) $(`#${id}`).value = value;
  picker.choose(linked.hardware);
  if (model === '') return;
  form.showModel(await engine.ask({ ask: 'model', model }));
  if (linked.device) await openDevice(linked.device);
  if (kind) await further.answer(kind, current);
}).finally(async () => {
  // Where a browser keeps nothing (a private window, no room), the page works as long as there is a network.
  $('#kept').hidden = !await keepPage().catch(() => false);
});
