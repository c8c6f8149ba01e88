// Model files: dropped anywhere on the page, or picked.

import { $ } from './dom.js';

const MODEL = [/\.onnx$/i, /\.gguf$/i, /config\.json$/i, /\.json$/i];

// The model among files that belong together (a model and its side files of weights).
const modelAmong = files => MODEL.map(kind => files.find(file => kind.test(file.name))).find(Boolean) ?? files[0];

export function takeFiles(use) {
  const taken = list => {
    const files = [...list];
    if (files.length) use(files, modelAmong(files));
  };
  let depth = 0;
  const over = change => {
    depth = Math.max(0, depth + change);
    $('#drop').hidden = depth === 0;
  };
  const carriesFiles = event => event.dataTransfer?.types.includes('Files');
  addEventListener('dragenter', event => carriesFiles(event) && over(1));
  addEventListener('dragleave', event => carriesFiles(event) && over(-1));
  addEventListener('dragover', event => carriesFiles(event) && event.preventDefault());
  addEventListener('drop', event => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    over(-depth);
    taken(event.dataTransfer.files);
  });
  $('#open').addEventListener('click', () => $('#file').click());
  // Neither event is one of the form, which would ask its old question again.
  $('#file').addEventListener('input', event => event.stopPropagation());
  $('#file').addEventListener('change', event => {
    event.stopPropagation();
    taken(event.target.files);
    event.target.value = '';
  });
}
