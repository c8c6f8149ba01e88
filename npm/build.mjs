// Makes the package's folder: node npm/build.mjs SOURCES BUILD OUT
//   BUILD/bin/tools.js, tools.wasm   the tools (cmake/Node.cmake)
//   OUT/NOTICES                      of the libraries in them (scripts/sbom)
//   OUT/package                      what `npm pack` packs, made anew
// The types of index.d.ts are those of the tools' own descriptions and of the schemas of their documents.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { answerTypes, questionType, typeName } from './types.mjs';

const [sources, built, out] = process.argv.slice(2).map(folder => path.resolve(folder));
const to = path.join(out, 'package');
const version = /^project\(archsim VERSION (\S+)/m.exec(fs.readFileSync(path.join(sources, 'CMakeLists.txt'), 'utf8'))[1];
const write = (name, text) => {
  const file = path.join(to, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};
const copy = (from, name) => write(name, fs.readFileSync(path.join(sources, from)));

fs.rmSync(to, { recursive: true, force: true });
for (const name of ['bin/archsim.js', 'lib/host.js', 'lib/api.js', 'README.md']) copy(`npm/${name}`, name);
fs.chmodSync(path.join(to, 'bin/archsim.js'), 0o755);
copy('LICENSE', 'LICENSE');
write('NOTICES', fs.readFileSync(path.join(out, 'NOTICES')));
for (const name of ['tools.js', 'tools.wasm']) write(`wasm/${name}`, fs.readFileSync(path.join(built, 'bin', name)));

// The catalogue; graphs take a tenth of their size and are read as they are.
const models = path.join(sources, 'models');
for (const folder of ['catalogue', 'configs'])
  fs.cpSync(path.join(models, folder), path.join(to, 'share/archsim/models', folder), { recursive: true });
execFileSync(path.join(sources, 'cmake/pack_models.sh'), ['--small', path.join(models, 'onnx'), path.join(to, 'share/archsim/models/onnx')]);

write('package.json', JSON.stringify({
  name: 'archsim',
  version,
  description: 'Estimates latency, energy, power, memory and cost of neural networks on chips, without running them',
  keywords: ['neural network', 'onnx', 'latency', 'energy', 'inference', 'performance model', 'mcp'],
  license: 'Apache-2.0',
  bin: { archsim: 'bin/archsim.js' },
  main: './index.js',
  types: './index.d.ts',
  exports: {
    '.': { types: './index.d.ts', import: './index.mjs', require: './index.js' },
    './package.json': './package.json',
  },
  engines: { node: '>=18' },
  files: ['bin', 'lib', 'wasm', 'share', 'index.js', 'index.mjs', 'index.d.ts', 'LICENSE', 'NOTICES', 'README.md'],
}, null, 2) + '\n');

const api = createRequire(import.meta.url)(path.join(to, 'lib/api.js'));
const tools = api.tools();
const names = tools.map(({ name }) => name);
const shared = ['ArchsimError', 'tools', 'runTool', 'compare', 'estimate'];
write('index.js', `// The interface for programs; index.d.ts tells of each function. Written by npm/build.mjs.

'use strict';
const { ArchsimError, functions, runTool, tools } = require('./lib/api.js');
const all = functions(${JSON.stringify(names)});
const compare = all.compareModels;
/** One model on one device: the one result of a comparison. */
const estimate = (model, hardware, question = {}, options = {}) =>
  compare({ ...question, model: [model], hardware: [hardware] }, options).results[0];
module.exports = { ...all, ${shared.join(', ')} };
`);
write('index.mjs', `// The same for modules. Written by npm/build.mjs.
import api from './index.js';
export const { ${[...names.map(api.camel), ...shared].join(', ')} } = api;
export default api;
`);

const schema = name => {
  const { status, stdout } = api.runTool([name, '--help-format', 'schema']);
  return status === 0 && stdout.startsWith('{') ? JSON.parse(stdout) : undefined;
};
const declared = tools.map(({ name, title, inputSchema }) => {
  const type = typeName(name);
  const document = schema(name);
  const answer = document ? `${type}Answer` : 'unknown';
  const types = document ? answerTypes(answer, document) : '';
  return `${questionType(`${type}Question`, inputSchema)}
${types}/** ${title}. Throws ArchsimError where there is no answer. */
export function ${api.camel(name)}(question${inputSchema.required ? '' : '?'}: ${type}Question, options?: Options): ${answer};
`;
}).join('\n');
write('index.d.ts', `// Written by npm/build.mjs, from what the tools say of themselves and from the schemas of their documents.

/** Where questions find their files and settings. */
export interface Options {
  /** the folder whose files may be read (default: all) */
  files?: string;
  /** the environment (default: that of the process) */
  env?: Record<string, string | undefined>;
}

/** What is wrong with a question, in a sentence. */
export class ArchsimError extends Error {
  /** the tool that was asked */
  tool: string;
}

/** A tool and the JSON Schema of its questions. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: object;
}
export function tools(): Tool[];

/** \`archsim ARGUMENTS...\`, with what it prints in memory. */
export function runTool(args: string[], options?: { env?: Record<string, string | undefined>; stdin?: string | Uint8Array }):
  { status: number; stdout: string; stderr: string };

/** The same as compareModels(). */
export function compare(question: CompareModelsQuestion, options?: Options): CompareModelsAnswer;
/** One model on one device. */
export function estimate(model: string, hardware: string, question?: Omit<CompareModelsQuestion, 'model' | 'hardware' | 'deployment'>,
  options?: Options): CompareModelsAnswer['results'][number];

${declared}`);
console.log(`${to}: archsim ${version}, ${names.length} tools`);
