// The library in a worker: fetches the module and the catalogue's files when they are wanted, sees dropped files through the
// browser's handles (nothing is copied, so that a file of gigabytes costs no memory), asks and hands the answers back.

const MODELS = '/usr/share/archsim/models'; // where the library looks for its catalogue
const DROPPED = '/dropped';

let inlined = null; // name -> bytes, in the page that is one file
let library = null;

// A stream of the packed file of that name, unpacked. Some hosts say that a .gz file is an encoding, and browsers undo it.
async function unpacked(name) {
  let bytes = inlined?.[name];
  if (!inlined) {
    const response = await fetch(new URL(name, self.location.href));
    if (!response.ok) throw new Error(`${name} cannot be fetched (${response.status})`);
    bytes = new Uint8Array(await response.arrayBuffer());
  }
  const stream = new Blob([bytes]).stream();
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? stream.pipeThrough(new DecompressionStream('gzip')) : stream;
}

async function openLibrary() {
  const wasm = async () => new Response(await unpacked('archsim.wasm.gz'), { headers: { 'Content-Type': 'application/wasm' } });
  let refused;
  const failed = new Promise((_, reject) => { refused = reject; });
  const module = createArchsim({
    instantiateWasm(imports, use) {
      WebAssembly.instantiateStreaming(wasm(), imports).then(made => use(made.instance), refused);
      return {};
    },
  });
  const [made, catalogue] = await Promise.all([
    Promise.race([module, failed]),
    unpacked('catalogue.json.gz').then(stream => new Response(stream).json()),
  ]);
  library = made;
  library.FS.mkdirTree(`${MODELS}/catalogue`);
  library.FS.mkdirTree(DROPPED);
  for (const [name, text] of Object.entries(catalogue)) library.FS.writeFile(`${MODELS}/catalogue/${name}`, text);
  const wrong = library.ccall('archsim_open_desk', 'string', [], []);
  if (wrong) throw new Error(wrong);
}

const ask = question => library.ccall('archsim_answer', 'string', ['string'], [JSON.stringify(question)]);

// The graphs of a catalogue model, once; without a name those of the language models that machines are asked for.
async function fetchGraphs(model) {
  const { files } = JSON.parse(ask({ ask: 'files', model }));
  await Promise.all(files.map(async path => {
    if (library.FS.analyzePath(path).exists) return;
    const bytes = await new Response(await unpacked(`models${path.slice(MODELS.length)}.gz`)).arrayBuffer();
    library.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
    library.FS.writeFile(path, new Uint8Array(bytes));
  }));
}

// Makes files readable for the library; the answer is the folder that holds them.
let drops = 0;
function mount(files) {
  const folder = `${DROPPED}/${++drops}`;
  library.FS.mkdir(folder);
  library.FS.mount(library.WORKERFS, { files }, folder);
  return folder;
}

async function answer(question) {
  if (question.model !== undefined || question.ask === 'local') await fetchGraphs(question.model);
  return ask(question);
}

const work = {
  open: async ({ files }) => { inlined = files; await openLibrary(); },
  mount: ({ files }) => mount(files),
  ask: ({ question }) => answer(question),
};

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ id: data.id, value: await work[data.work](data) });
  } catch (problem) {
    self.postMessage({ id: data.id, problem: String(problem && problem.message || problem) });
  }
};
