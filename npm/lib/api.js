// The tools as functions, for a host that runs them (host.js, ../browser/worker.js): an object of arguments in, the JSON answer out.

'use strict';
const { joined } = require('./program.js');

/** What is wrong with a question, in a sentence: no answer was possible. */
class ArchsimError extends Error {
  constructor(tool, message) {
    super(message);
    this.name = 'ArchsimError';
    this.tool = tool;
  }
}

const VERSION = '2025-06-18'; // of the protocol, the first whose results hold documents
const encoder = new TextEncoder(), decoder = new TextDecoder();

// Keys of a question of the page that are none of a tool's.
const OF_PAGE = new Set(['ask', 'limits', 'load', 'level', 'costs', 'metric', 'format', 'date', 'charts']);

// What the program that stays started answers of compare_models: one catalogue model on devices of the database, and fields with one
// value each. Nothing for any other question.
function deskQuestion({ model, hardware, deployment, ...fields }, namesFile) {
  const [models, devices] = [model, hardware].map(names => (names === undefined ? [] : [names].flat()));
  const plain = text => typeof text === 'string' && !namesFile(text) && !/^-|^this-/.test(text);
  if (models.length !== 1 || ![...models, ...devices].every(plain) || (devices.length === 0) === (deployment === undefined)) return undefined;
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  if (given.some(([key, value]) => OF_PAGE.has(key) || !['string', 'number', 'boolean'].includes(typeof value) || value === '')) return undefined;
  return { ...Object.fromEntries(given), model: models[0], ...(devices.length ? { hardware: devices } : { deployment }), ask: 'export', format: 'json' };
}

module.exports = ({ run, keptDesk, forgetDesk, namesFile, root }) => {
  // The tools read questions as they do for assistants (archsim mcp), which writes no files.
  function ask(method, params, options = {}) {
    const messages = [
      { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'archsim', version: '1' } } },
      { jsonrpc: '2.0', id: 1, method, params },
    ];
    const { status, stdout, stderr } = runTool(['mcp', '--tools', 'all', '--files', options.files ?? root()],
      { env: options.env, stdin: messages.map(message => JSON.stringify(message) + '\n').join('') });
    const answer = stdout.split('\n').filter(Boolean).map(line => JSON.parse(line)).find(({ id }) => id === 1);
    if (!answer) throw new ArchsimError(params.name, stderr || `ended with status ${status}`);
    if (answer.error) throw new ArchsimError(params.name, answer.error.message);
    return answer.result;
  }

  // What is wrong with a question, and what the desk does not answer, is said by the tool itself.
  function quick(question) {
    const asked = deskQuestion(question, namesFile);
    if (!asked) return undefined;
    try {
      const { text } = keptDesk()(asked);
      return text && JSON.parse(text);
    } catch { // out of memory, say: it starts anew
      forgetDesk();
      return undefined;
    }
  }

  const tool = name => (question = {}, options = {}) => {
    const known = name === 'compare_models' && !options.env && !options.files && quick(question);
    if (known) return known;
    // Files of a question are named from the current folder, whichever may be read.
    const result = ask('tools/call', { name, arguments: { ...question, max_rows: 0 } }, options);
    const text = result.content.map(part => part.text).join('\n');
    if (result.isError) throw new ArchsimError(name, text);
    return result.structuredContent ?? text;
  };

  /** `archsim ARGUMENTS...` with what it prints in memory. */
  function runTool(args, options = {}) {
    const kept = { stdout: [], stderr: [] };
    const status = run(args, {
      ...options,
      stdin: options.stdin === undefined ? undefined : typeof options.stdin === 'string' ? encoder.encode(options.stdin) : options.stdin,
      stdout: bytes => kept.stdout.push(bytes),
      stderr: bytes => kept.stderr.push(bytes),
    });
    return { status, stdout: decoder.decode(joined(kept.stdout)), stderr: decoder.decode(joined(kept.stderr)) };
  }

  /** One model on one device: the one result of a comparison. */
  const estimate = (model, hardware, question = {}, options = {}) =>
    tool('compare_models')({ ...question, model: [model], hardware: [hardware] }, options).results[0];

  return { ArchsimError, estimate, runTool, tool, tools: () => ask('tools/list', {}).tools };
};
module.exports.camel = name => name.replace(/_([a-z])/g, (all, letter) => letter.toUpperCase());
