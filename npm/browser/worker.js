// The tools in a worker of a browser: the program and its models are fetched from the package's folder, models when they are read.
// npm/build.mjs makes one file of this and of what it requires; `base` comes with the first message.

'use strict';
const makeApi = require('../lib/api.js');
const { openDesk, runMain, start } = require('../lib/program.js');

const PLACE = '/archsim/bin/archsim'; // beside which the program looks for models
const files = new Map(); // path -> bytes, or the address where they are
let compiled, api;

// The files of the package and of the reader in the program's own file system, filled when they are first opened.
function prepare({ FS }) {
  const empty = new Set();
  const fill = name => {
    const path = `/${name}`.replace(/\/(\.?\/)+/g, '/');
    if (!empty.delete(path)) return;
    let bytes = files.get(path);
    if (bytes instanceof URL) {
      const request = new XMLHttpRequest(); // a worker may wait
      request.open('GET', bytes, false);
      request.responseType = 'arraybuffer';
      request.send();
      if (request.status !== 200) throw new Error(`${bytes} cannot be fetched (${request.status})`);
      bytes = new Uint8Array(request.response);
      files.set(path, bytes);
    }
    FS.writeFile(path, bytes);
  };
  for (const path of files.keys()) {
    FS.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '/');
    FS.writeFile(path, new Uint8Array());
    empty.add(path);
  }
  for (const name of ['open', 'stat']) {
    const call = FS[name];
    FS[name] = (path, ...rest) => {
      if (typeof path === 'string') fill(path);
      return call(path, ...rest);
    };
  }
}

const started = streams => start(self.createTools, compiled, { env: {}, place: PLACE, prepare }, { stdin: new Uint8Array(), ...streams });
let desk;
const host = {
  run: (args, { stdin, stdout, stderr }) => runMain(started({ stdin, stdout, stderr }), args, text => stderr(new TextEncoder().encode(text))),
  keptDesk: () => { desk ??= openDesk(started({ stdout() {}, stderr() {} })); return desk; },
  forgetDesk: () => { desk = undefined; },
  namesFile: text => text.includes('/') || files.has(`/${text}`),
  root: () => '/',
};

// The program unpacks nothing in a browser, whose own unpacking cannot be waited for.
async function unpacked(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Graphs of the catalogue are packed: those of the models that a question names are made ready, or all where it names none.
async function readyGraphs(words) {
  const named = words.filter(word => typeof word === 'string').flatMap(model => host.keptDesk()({ ask: 'files', model }).files ?? []);
  const paths = (named.length ? named.map(path => path.replace(/(\.gz)?$/, '.gz')) : [...files.keys()]).filter(path => path.endsWith('.gz') && files.get(path) instanceof URL);
  await Promise.all(paths.map(async path => {
    const response = await fetch(files.get(path));
    if (!response.ok) throw new Error(`${response.url} cannot be fetched (${response.status})`);
    files.set(path, await unpacked(new Uint8Array(await response.arrayBuffer())));
  }));
}

async function open({ base }) {
  importScripts(new URL('wasm/tools.js', base));
  const fetched = async name => {
    const response = await fetch(new URL(name, base));
    if (!response.ok) throw new Error(`${response.url} cannot be fetched (${response.status})`);
    return response;
  };
  const [wasm, names] = await Promise.all([fetched('wasm/tools.wasm').then(response => response.arrayBuffer()),
    fetched('browser/files.json').then(response => response.json())]);
  compiled = await WebAssembly.compile(wasm);
  for (const name of names) files.set(`/archsim/${name}`, new URL(name, base));
  api = makeApi(host);
}

const work = {
  open,
  add: async ({ name, bytes }) => { files.set(`/${name}`, await unpacked(bytes)); desk = undefined; },
  tool: async ({ tool, question }) => { await readyGraphs(Object.values(question).flat()); return api.tool(tool)(question); },
  estimate: async ({ given }) => { await readyGraphs(given.slice(0, 1)); return api.estimate(...given); },
  runTool: async ({ args, stdin }) => { await readyGraphs(args); return api.runTool(args, { stdin }); },
};

let before = Promise.resolve();
self.onmessage = ({ data }) => {
  before = before.then(async () => {
    try {
      self.postMessage({ id: data.id, value: await work[data.work](data) });
    } catch (problem) {
      self.postMessage({ id: data.id, problem: { name: problem.name, message: problem.message, tool: problem.tool } });
    }
  });
};
