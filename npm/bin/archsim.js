#!/usr/bin/env node
// archsim TOOL ARGUMENTS...: the tools as they are everywhere, with the files, the terminal and the exit status of this process.

'use strict';
const [major] = process.versions.node.split('.').map(Number);
if (major < 18) {
  process.stderr.write(`archsim: Node.js ${process.versions.node} is too old; install 18 or newer\n`);
  process.exit(2);
}
process.exitCode = require('../lib/host.js').run(process.argv.slice(2));
