// Runs the tools, compiled to WebAssembly, in this process: arguments in; what they print, the files they write and their exit
// status out.

'use strict';
const fs = require('node:fs');
const path = require('node:path');
const tty = require('node:tty');
const { openDesk, runMain, start } = require('./program.js');

const home = path.join(__dirname, '..');
const STDIN = 0, STDOUT = 1, STDERR = 2;
const EAGAIN = 6, EPIPE = 64, EOF_ON_WINDOWS = 'EOF'; // numbers of WASI, which emscripten's library uses
const BROKEN_PIPE = 141; // 128 + SIGPIPE: what a shell sees of a program whose reader has gone

let createTools, compiled;

// The program, compiled once a process: a function when it is first called.
function program() {
  if (!compiled) {
    const v8 = require('node:v8'); // Node.js 18 would compile everything at once
    v8.setFlagsFromString('--wasm-lazy-compilation');
    v8.setFlagsFromString('--wasm-lazy-validation'); // of the program's own bytes
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

// The files and streams of this process as the program takes them.
function prepare({ FS }) {
  const { read, write } = FS;
  FS.write = (stream, buffer, offset, length, position) => {
    try {
      return patiently(() => write(stream, buffer, offset, length, position));
    } catch (problem) {
      if (problem.errno === EPIPE && stream.nfd === STDOUT) process.exit(BROKEN_PIPE);
      throw problem;
    }
  };
  FS.read = (stream, buffer, offset, length, position) => {
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

function started(env, streams) {
  const module_ = program();
  const place = path.join(home, 'bin/archsim');
  return start(createTools, module_, { env, place: process.platform === 'win32' ? inside(place) : place, prepare, terminal: tty.isatty }, streams);
}

/**
 * Runs `archsim ARGUMENTS...` and returns its exit status.
 * options.env: the environment (default: this process's); options.stdin: a Buffer that is read in place of standard input;
 * options.stdout, options.stderr: functions that take bytes in place of the streams of this process.
 */
function run(args, options = {}) {
  const { stdin, stdout, stderr } = options;
  const instance = started(options.env ?? process.env, { stdin, stdout, stderr });
  const given = process.platform === 'win32' ? args.map(text => (/^[A-Za-z]:[\\/]/.test(text) ? inside(text) : text)) : args;
  const folder = process.cwd();
  try {
    return runMain(instance, given, text => (stderr ? stderr(Buffer.from(text)) : fs.writeSync(STDERR, text)));
  } finally {
    if (process.cwd() !== folder) process.chdir(folder);
  }
}

let desk;
/** The program that stays started (src/web), with the models that it read; anew where the environment names other data. */
function keptDesk() {
  const data = ['ARCHSIM_DATA_DIR', 'XDG_DATA_DIRS'].map(name => process.env[name]).join('\n');
  if (desk?.data !== data) desk = { data, ask: openDesk(started(process.env, { stdin: Buffer.alloc(0) })) };
  return desk.ask;
}

/** Whether the text may name a file, which may change from question to question. */
const namesFile = text => /[\\/]/.test(text) || fs.existsSync(text);

module.exports = { run, keptDesk, namesFile, forgetDesk: () => { desk = undefined; }, root: () => path.parse(process.cwd()).root };
