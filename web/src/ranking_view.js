// The verdict, the ranking and what else there is to say of all devices.

import { $, make, show } from './dom.js';

const FIRST = 15; // rows that page.css shows, and the beginning of each note, until the reader asks for all: what follows the ranking is near it

function unfold(whole) {
  $('#ranking').classList.toggle('whole', whole);
  $('#ranking-all').setAttribute('aria-expanded', whole);
  $('#ranking-all').textContent = whole ? `The first ${FIRST}` : `All ${$('#ranking tbody').rows.length} rows, and their notes`;
}

// Draws the answer to "rank"; `choose` is called with a device's name.
export function showRanking(answer, choose) {
  $('#model-title').textContent = answer.title;
  show($('#verdict'), answer.verdict);
  $('#decisions').hidden = !answer.decisions;
  $('#decisions').open = false;
  $('#decisions > div').replaceChildren();
  $('#decisions').ontoggle = () => $('#decisions').open && !$('#decisions > div').hasChildNodes() && show($('#decisions > div'), answer.decisions);
  show($('#facts'), answer.facts);
  show($('#ranking'), answer.ranking);
  $('#charts').replaceChildren();
  $('#explanation').replaceChildren();
  $('#findings').replaceChildren(...answer.findings.map(({ severity, text }) => make('p', { class: severity === 'error' ? 'bad' : 'muted' }, text)));
  // The table has the rows in the order of answer.rows, until the reader sorts it.
  const rows = [...$('#ranking tbody').rows];
  answer.rows.forEach(({ hardware, status, evidence }, i) => {
    const cell = rows[i].cells[0], name = cell.textContent;
    rows[i].dataset.hardware = hardware;
    rows[i].dataset.status = status;
    rows[i].dataset.evidence = evidence ?? '';
    cell.replaceChildren(make('button', { type: 'button', class: 'do' }, name));
  });
  $('#ranking-all').hidden = rows.length <= FIRST;
  unfold($('#ranking').classList.contains('whole'));
  $('#ranking-all').onclick = () => unfold(!$('#ranking').classList.contains('whole'));
  $('#ranking').oninput = () => unfold(true); // what is looked for may be anywhere
  $('#ranking').onclick = event => {
    const row = event.target.closest('tbody tr');
    if (row && !event.target.closest('[data-detail]')) choose(row.dataset.hardware);
  };
  fillPairs(answer.rows.filter(row => row.status === 'ok'));
}

// The best device against the best one of another family, until the reader chooses.
function fillPairs(rows) {
  const other = rows.find(row => row.family !== rows[0]?.family) ?? rows[1];
  [['#explain-a', rows[0]], ['#explain-b', other]].forEach(([selector, usual]) => {
    const kept = rows.find(row => row.hardware === $(selector).value) ?? usual;
    $(selector).replaceChildren(...rows.map(row => make('option', { value: row.hardware, '.selected': row === kept }, row.label)));
  });
}

// What was tried and helps, as buttons: `use` is called with fields of the question, or with another device.
export function showAdvice({ advice, rows }, use) {
  const button = ({ hardware, fields: asked, gain }) => {
    const { hardware: device, ...fields } = asked;
    const shown = Object.entries(asked).map(([key, text]) => (key === 'hardware' ? text : text === 'true' ? key.replaceAll('_', ' ') : `${key.replaceAll('_', ' ')} ${text}`)).join(', ');
    const label = rows.find(row => row.hardware === hardware)?.label ?? hardware;
    const made = make('button', { type: 'button' }, `${shown}: ${label} ${Number(gain.toPrecision(3))}×`);
    made.addEventListener('click', () => use(fields, device));
    return made;
  };
  $('#advice').hidden = advice.length === 0;
  $('#advice .row').replaceChildren(...advice.slice(0, 4).map(button));
}

export function markDevice(hardware) {
  for (const row of document.querySelectorAll('#ranking tbody tr')) {
    if (row.dataset.hardware === hardware) row.setAttribute('aria-current', 'true');
    else row.removeAttribute('aria-current');
  }
}

// Sections of a report under each other: the first open, the others drawn when they are opened.
export function showSections(element, sections, open) {
  element.replaceChildren(...sections.map(({ title, html }, i) => {
    const body = make('div');
    const details = make('details', {}, make('summary', {}, title), body);
    details.addEventListener('toggle', () => details.open && !body.hasChildNodes() && show(body, html));
    details.open = i === 0 || open;
    return details;
  }));
}
