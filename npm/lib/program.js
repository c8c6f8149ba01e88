// The program of the tools, started in a process of Node.js (host.js) or in a worker of a browser (../browser/worker.js): arguments
// in; what it prints and its exit status out. It can stay started, for questions that the page asks too (src/web).

'use strict';

const STDIN = 0, STDOUT = 1, STDERR = 2;
const FAULT = 70;

const joined = parts => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

// Bytes and functions of bytes in place of the host's streams, where they are given.
function replaceStreams(self, { stdin, stdout, stderr }) {
  const { FS } = self, { close, read, write } = FS;
  const sinks = { [STDOUT]: stdout, [STDERR]: stderr }, usual = { ...sinks }, kept = {};
  const number = stream => stream.nfd ?? stream.fd;
  // cli/mcp/capture.cpp: what a tool prints while it answers an assistant.
  self.keepOutput = () => {
    for (const stream of [STDOUT, STDERR]) {
      kept[stream] = [];
      sinks[stream] = bytes => kept[stream].push(bytes);
    }
  };
  self.keptOutput = stream => {
    sinks[stream] = usual[stream];
    return joined(kept[stream]);
  };
  // At its end the program closes every stream; those of the host stay open for it.
  FS.close = stream => {
    if (number(stream) > STDERR) close(stream);
  };
  FS.write = (stream, buffer, offset, length, position) => {
    const sink = sinks[number(stream)];
    if (!sink) return write(stream, buffer, offset, length, position);
    sink(new Uint8Array(buffer.buffer.slice(buffer.byteOffset + offset, buffer.byteOffset + offset + length)));
    return length;
  };
  let taken = 0;
  FS.read = (stream, buffer, offset, length, position) => {
    if (number(stream) !== STDIN || stdin === undefined) return read(stream, buffer, offset, length, position);
    const part = stdin.subarray(taken, taken + length);
    buffer.set(part, offset);
    taken += part.length;
    return part.length;
  };
}

/**
 * The program of wasm/tools.js (`create`) and wasm/tools.wasm (`compiled`), started but not run.
 * host.env: its environment; host.place: its path; host.prepare: is told of the module before the program starts;
 * host.terminal: whether a stream is one. streams: stdin (bytes), stdout and stderr (functions of bytes) in place of the host's.
 */
function start(create, compiled, { env, place, prepare = () => {}, terminal = () => false }, streams = {}) {
  const instance = {
    thisProgram: 'archsim',
    instantiateWasm(imports, done) {
      const made = new WebAssembly.Instance(compiled, imports);
      done(made, compiled);
      return made.exports;
    },
    preRun: [self => {
      for (const name of ['USER', 'LOGNAME', 'PATH', 'PWD', 'HOME', 'LANG']) self.ENV[name] = undefined; // emscripten's own
      for (const [name, value] of Object.entries(env)) if (value !== undefined) self.ENV[name] = String(value);
      self.ENV._ = place;
      prepare(self);
      replaceStreams(self, streams);
    }],
    quit(code, end) {
      instance.left = code;
      throw end;
    },
  };
  create(instance);
  // emscripten takes its standard streams for terminals.
  for (const stream of [STDIN, STDOUT, STDERR])
    instance.FS.streams[stream].tty = streams[['stdin', 'stdout', 'stderr'][stream]] === undefined && terminal(stream);
  return instance;
}

/** Its exit status; `say` is told, in a sentence, what ended it otherwise. */
function runMain(instance, args, say) {
  instance.left = FAULT;
  try {
    return instance.callMain([...args]) ?? instance.left;
  } catch (problem) {
    if (problem && problem.name === 'ExitStatus') return problem.status;
    const memory = problem instanceof RangeError || /memory/i.test(String(problem && problem.message));
    say(memory ? 'archsim: there is not enough memory; ask for less at once, or use the tools of this machine\n'
      : `archsim: a fault of archsim itself, not of what it was given: ${problem && problem.message}\n`);
    return memory ? 2 : FAULT;
  }
}

/** What answers questions in a program that stays started: JSON in, JSON out. */
function openDesk(instance) {
  const wrong = instance.ccall('archsim_open_desk', 'string', [], []);
  if (wrong) throw new Error(wrong);
  return question => JSON.parse(instance.ccall('archsim_answer', 'string', ['string'], [JSON.stringify(question)]));
}

module.exports = { joined, openDesk, runMain, start };
