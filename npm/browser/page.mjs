// The tools in a web page, each a function that gives a promise: a worker holds the program, started with the first question.

let base = new URL('./', import.meta.url), worker, count = 0;
const waiting = new Map();

/** What is wrong with a question, in a sentence: no answer was possible. */
export class ArchsimError extends Error {
  constructor({ name, message, tool }) {
    super(message);
    Object.assign(this, { name, tool });
  }
}

/** Where the package's folder is served, for a page whose scripts were bundled to elsewhere. Before the first question. */
export function servedFrom(address) {
  base = new URL(address, location.href);
}

function send(message, keep = []) {
  if (!worker) {
    worker = new Worker(new URL('browser/worker.js', base));
    worker.onmessage = ({ data: { id, value, problem } }) => {
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (problem) reject(new ArchsimError(problem));
      else resolve(value);
    };
    worker.onerror = event => {
      for (const { reject } of waiting.values()) reject(new Error(event.message || 'the worker has stopped'));
      waiting.clear();
      worker = undefined;
    };
    send({ work: 'open', base: base.href }).catch(problem => {
      worker?.onerror({ message: problem.message });
    });
  }
  return new Promise((resolve, reject) => {
    waiting.set(++count, { resolve, reject });
    worker.postMessage({ id: count, ...message }, keep);
  });
}

const tool = name => (question = {}) => send({ work: 'tool', tool: name, question });

/** Bytes that questions name as a file: addFile('mine.onnx', bytes), compare({ model: ['./mine.onnx'] }). */
export const addFile = (name, bytes) => send({ work: 'add', name, bytes: new Uint8Array(bytes) });
/** One model on one device. */
export const estimate = (...given) => send({ work: 'estimate', given });
/** `archsim ARGUMENTS...` with what it prints in memory. */
export const runTool = (args, { stdin } = {}) => send({ work: 'runTool', args, stdin });
/** Ends the worker. */
export const close = () => { worker?.terminate(); worker = undefined; };
