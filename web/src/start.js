// Opens the library: from the files beside the page, or from the page itself where it is one file.

import { Engine } from './engine.js';

const held = name => document.querySelector(`script[data-file="${name}"]`);

function bytesOf(script) {
  const text = atob(script.textContent);
  return Uint8Array.from(text, letter => letter.charCodeAt(0));
}

// A worker that runs one of the page's scripts.
export function startWorker(name) {
  const inside = held(name);
  return new Worker(inside ? URL.createObjectURL(new Blob([inside.textContent], { type: 'text/javascript' })) : name);
}

export function openEngine(slow) {
  const packed = [...document.querySelectorAll('script[type="application/gzip+base64"]')];
  const files = packed.length ? Object.fromEntries(packed.map(script => [script.dataset.file, bytesOf(script)])) : null;
  return new Engine(() => startWorker('worker.js'), files, slow);
}

// Keeps the page for when there is no network, where it is served beside its files; true once all of it is kept.
export async function keepPage() {
  if (!navigator.serviceWorker || !location.protocol.startsWith('http') || held('worker.js')) return false;
  await navigator.serviceWorker.register('service.js');
  await navigator.serviceWorker.ready;
  return true;
}
