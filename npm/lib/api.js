// The tools as functions: an object of arguments in, the JSON answer out.

'use strict';
const { run, home } = require('./host.js');
const path = require('node:path');

/** What is wrong with a question, in a sentence: no answer was possible. */
class ArchsimError extends Error {
  constructor(tool, message) {
    super(message);
    this.name = 'ArchsimError';
    this.tool = tool;
  }
}

const VERSION = '2025-06-18'; // of the protocol, the first whose results hold documents

// The tools read questions as they do for assistants (archsim mcp), which writes no files.
function ask(method, params, options = {}) {
  const messages = [
    { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'archsim', version: '1' } } },
    { jsonrpc: '2.0', id: 1, method, params },
  ];
  const out = [];
  const said = [];
  const files = options.files ?? path.parse(process.cwd()).root;
  const status = run(['mcp', '--tools', 'all', '--files', files], {
    env: options.env,
    stdin: Buffer.from(messages.map(message => JSON.stringify(message) + '\n').join('')),
    stdout: bytes => out.push(bytes),
    stderr: bytes => said.push(bytes),
  });
  const answer = Buffer.concat(out).toString().split('\n').filter(Boolean).map(line => JSON.parse(line)).find(({ id }) => id === 1);
  if (!answer) throw new ArchsimError(params.name, Buffer.concat(said).toString() || `ended with status ${status}`);
  if (answer.error) throw new ArchsimError(params.name, answer.error.message);
  return answer.result;
}

const tool = name => (question = {}, options = {}) => {
  // Files of a question are named from the current folder, whichever may be read.
  const result = ask('tools/call', { name, arguments: { ...question, max_rows: 0 } }, options);
  const text = result.content.map(part => part.text).join('\n');
  if (result.isError) throw new ArchsimError(name, text);
  return result.structuredContent ?? text;
};

/** The tools with the JSON Schema of their questions. */
const tools = () => ask('tools/list', {}).tools;

const camel = name => name.replace(/_([a-z])/g, (all, letter) => letter.toUpperCase());
const functions = names => Object.fromEntries(names.map(name => [camel(name), tool(name)]));

/** `archsim ARGUMENTS...` with what it prints in memory. */
function runTool(args, options = {}) {
  const kept = { stdout: [], stderr: [] };
  const status = run(args, {
    ...options,
    stdin: options.stdin === undefined ? undefined : Buffer.from(options.stdin),
    stdout: bytes => kept.stdout.push(bytes),
    stderr: bytes => kept.stderr.push(bytes),
  });
  return { status, stdout: Buffer.concat(kept.stdout).toString(), stderr: Buffer.concat(kept.stderr).toString() };
}

module.exports = { ArchsimError, ask, camel, functions, home, runTool, tools };
