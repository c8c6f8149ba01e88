// Runs the tools, compiled to WebAssembly, in this process: arguments in; what they print, the files they write and their exit
// status out.

'use strict';
const fs = require('node:fs');
const path = require('node:path');
const tty = require('node:tty');

const home = path.join(__dirname, '..');
const STDIN = 0, STDOUT = 1, STDERR = 2;
const EAGAIN = 6, EPIPE = 64, EOF_ON_WINDOWS = 'EOF'; // numbers of WASI, which emscripten's library uses
const BROKEN_PIPE = 141; // 128 + SIGPIPE: what a shell sees of a program whose reader has gone
const FAULT = 70;

let createTools, compiled;

// The program, compiled once a process: a function when it is first called.
function program() {
  if (!compiled) {
    const v8 = require('node:v8'); // Node.js 18 would compile everything at once
    v8.setFlagsFromString('--wasm-lazy-compilation');
    v8.setFlagsFromString('--wasm-lazy-validation'); // of the program's own bytes
    // Optimising a function takes longer than most answers take without. With 30 times what V8 waits otherwise a comparison
    // computes half as long, and so does a sweep of 4000 points.
    v8.setFlagsFromString('--wasm-tiering-budget=60000000');
    createTools = require('../wasm/tools.js');
    compiled = new WebAssembly.Module(fs.readFileSync(path.join(home, 'wasm/tools.wasm')));
  }
  return compiled;
}

const nap = new Int32Array(new SharedArrayBuffer(4));
// A descriptor that others made non-blocking is asked again until it answers.
function patiently(call) {
  for (;;) {
    try {
      return call();
    } catch (problem) {
      if (problem.errno !== EAGAIN && problem.code !== 'EAGAIN') throw problem;
      Atomics.wait(nap, 0, 0, 1);
    }
  }
}

// C:\models\a.onnx as /c/models/a.onnx, by which the library, which knows paths with slashes, tells a path from the root; and
// back, for Node.js.
const inside = name => name.replace(/^([A-Za-z]):[\\/]/, (all, drive) => `/${drive.toLowerCase()}/`).replace(/\\/g, '/');
const outside = name => name.replace(/^\/([A-Za-z])(\/|$)/, (all, drive) => `${drive.toUpperCase()}:/`);

function adapt(self, { stdin, stdout, stderr }) {
  const { FS } = self;
  const { close, read, write } = FS;
  const sinks = { [STDOUT]: stdout, [STDERR]: stderr };
  // cli/mcp/capture.cpp: what a tool prints while it answers an assistant.
  const usual = { ...sinks };
  const kept = {};
  self.keepOutput = () => {
    for (const stream of [STDOUT, STDERR]) {
      kept[stream] = [];
      sinks[stream] = bytes => kept[stream].push(bytes);
    }
  };
  self.keptOutput = stream => {
    sinks[stream] = usual[stream];
    return Buffer.concat(kept[stream]);
  };
  // At its end the program closes every stream; those of this process stay open for it.
  FS.close = stream => {
    if (stream.nfd > STDERR) close(stream);
  };
  FS.write = (stream, buffer, offset, length, position) => {
    const sink = !stream.stream_ops && sinks[stream.nfd];
    if (sink) {
      sink(Buffer.from(buffer.buffer.slice(buffer.byteOffset + offset, buffer.byteOffset + offset + length)));
      return length;
    }
    try {
      return patiently(() => write(stream, buffer, offset, length, position));
    } catch (problem) {
      if (problem.errno === EPIPE && stream.nfd === STDOUT) process.exit(BROKEN_PIPE);
      throw problem;
    }
  };
  FS.read = (stream, buffer, offset, length, position) => {
    if (stream.nfd === STDIN && stdin !== undefined) {
      const part = stdin.subarray(stream.taken ?? 0, (stream.taken ?? 0) + length);
      buffer.set(part, offset);
      stream.taken = (stream.taken ?? 0) + part.length;
      return part.length;
    }
    try {
      return patiently(() => read(stream, buffer, offset, length, position));
    } catch (problem) {
      if (stream.nfd === STDIN && problem.code === EOF_ON_WINDOWS) return 0;
      throw problem;
    }
  };
  if (process.platform === 'win32') {
    for (const name of ['lookupPath', 'mknod', 'mkdir', 'rmdir', 'readdir', 'unlink', 'readlink', 'stat', 'lstat', 'chmod', 'chown',
      'truncate', 'utime', 'open', 'chdir']) {
      const call = FS[name];
      FS[name] = (first, ...rest) => call(typeof first === 'string' ? outside(first) : first, ...rest);
    }
    for (const name of ['rename', 'symlink']) {
      const call = FS[name];
      FS[name] = (from, to) => call(outside(from), outside(to));
    }
    const { cwd } = FS;
    FS.cwd = () => inside(cwd());
  }
}

/**
 * Runs `archsim ARGUMENTS...` and returns its exit status.
 * options.env: the environment (default: this process's); options.stdin: a Buffer that is read in place of standard input;
 * options.stdout, options.stderr: functions that take Buffers in place of the streams of this process.
 */
function run(args, options = {}) {
  const module_ = program();
  const env = options.env ?? process.env;
  let status = FAULT;
  const instance = {
    thisProgram: 'archsim',
    instantiateWasm(imports, done) {
      const made = new WebAssembly.Instance(module_, imports);
      done(made, module_);
      return made.exports;
    },
    preRun: [self => {
      for (const name of ['USER', 'LOGNAME', 'PATH', 'PWD', 'HOME', 'LANG']) self.ENV[name] = undefined; // emscripten's own
      for (const [name, value] of Object.entries(env)) if (value !== undefined) self.ENV[name] = String(value);
      self.ENV._ = process.platform === 'win32' ? inside(path.join(home, 'bin/archsim')) : path.join(home, 'bin/archsim');
      adapt(self, options);
    }],
    quit(code, end) {
      status = code;
      throw end;
    },
  };
  createTools(instance);
  // emscripten takes its standard streams for terminals.
  for (const stream of [STDIN, STDOUT, STDERR])
    instance.FS.streams[stream].tty = options[['stdin', 'stdout', 'stderr'][stream]] === undefined && tty.isatty(stream);
  const given = process.platform === 'win32' ? args.map(text => (/^[A-Za-z]:[\\/]/.test(text) ? inside(text) : text)) : args;
  const folder = process.cwd();
  try {
    status = instance.callMain([...given]) ?? status;
  } catch (problem) {
    if (problem && problem.name === 'ExitStatus') return problem.status;
    const say = options.stderr ?? (bytes => fs.writeSync(STDERR, bytes));
    const memory = problem instanceof RangeError || /memory/i.test(String(problem && problem.message));
    say(Buffer.from(memory ? 'archsim: there is not enough memory; ask for less at once, or use the tools of this machine\n'
      : `archsim: a fault of archsim itself, not of what it was given: ${problem && problem.message}\n`));
    return memory ? 2 : FAULT;
  } finally {
    if (process.cwd() !== folder) process.chdir(folder);
  }
  return status;
}

module.exports = { run, home, inside, outside };
