// The verdict as a picture to send: the question, its first sentences and the best rows.

import { $ } from './dom.js';

const WIDTH = 1200, HEIGHT = 630, EDGE = 60, ROWS = 5;
const FONT = 'system-ui, sans-serif';

function lines(context, text, width) {
  const made = [''];
  for (const word of text.split(/\s+/)) {
    const longer = `${made.at(-1)} ${word}`.trim();
    if (context.measureText(longer).width > width && made.at(-1)) made.push(word);
    else made[made.length - 1] = longer;
  }
  return made;
}

// A PNG of what the page shows.
export async function verdictPicture() {
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: WIDTH, height: HEIGHT });
  const context = canvas.getContext('2d');
  let at = EDGE;
  const write = (text, size, colour, most, bold = '') => {
    context.font = `${bold} ${size}px ${FONT}`;
    context.fillStyle = colour;
    for (const line of lines(context, text, WIDTH - 2 * EDGE).slice(0, most)) {
      if (at + size > HEIGHT - EDGE) return;
      context.fillText(line, EDGE, at + size);
      at += 1.35 * size;
    }
    at += 0.45 * size;
  };
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.fillStyle = '#00568f';
  context.fillRect(0, 0, 14, HEIGHT);
  write($('#model-title').textContent, 46, '#1a1a1a', 1, 'bold');
  const [first, ...others] = [...$('#verdict').querySelectorAll('p')].map(line => line.textContent.trim()).filter(Boolean);
  write(first ?? $('#verdict').textContent.trim(), 30, '#1a1a1a', 4, 'bold');
  for (const line of others) write(line, 24, '#333333', 2);
  const unit = /\((.*)\)/.exec($('#ranking thead').rows[0].cells[2].textContent)?.[1] ?? '';
  const rows = [...$('#ranking tbody').rows].filter(row => row.dataset.evidence === 'measured'); // what may be named first
  for (const { cells } of rows.slice(0, ROWS))
    write(`${cells[0].textContent.trim()}: ${cells[2].textContent.trim()} ${unit} (90 %: ${cells[3].textContent.trim().replace('-', ' to ')})`, 22, '#555555', 1);
  context.font = `18px ${FONT}`;
  context.fillStyle = '#777777';
  context.fillText(`Estimated with 90 % intervals by archsim, not measured; ${$('#ranking tbody').rows.length} devices compared.`, EDGE, HEIGHT - 24);
  return new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
}
