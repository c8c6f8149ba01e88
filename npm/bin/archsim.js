#!/usr/bin/env node
// archsim TOOL ARGUMENTS...: the tools as they are everywhere, with the files, the terminal and the exit status of this process.

'use strict';
const [major] = process.versions.node.split('.').map(Number);
if (major < 18) {
  process.stderr.write(`archsim: Node.js ${process.versions.node} is too old; install 18 or newer\n`);
  process.exit(2);
}
// Optimising a function takes longer than most answers take without. With 30 times what V8 waits otherwise a comparison computes half
// as long, and so does a sweep of 4000 points. Programs that ask again and again (index.js) are better off as V8 is.
require('node:v8').setFlagsFromString('--wasm-tiering-budget=60000000');
process.exitCode = require('../lib/host.js').run(process.argv.slice(2));
