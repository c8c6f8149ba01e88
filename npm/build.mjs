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
for (const name of ['bin/archsim.js', 'lib/host.js', 'lib/api.js', 'lib/program.js', 'README.md']) copy(`npm/${name}`, name);
fs.chmodSync(path.join(to, 'bin/archsim.js'), 0o755);
copy('LICENSE', 'LICENSE');
write('NOTICES', fs.readFileSync(path.join(out, 'NOTICES')));
const loader = fs.readFileSync(path.join(built, 'bin/tools.js'), 'utf8');
// In a browser the files are those of the loader's own file system: emscripten refuses what it then simply leaves as it is.
const browserLoader = loader.replace(/throw new Error\("NODERAWFS[^"]*"\)/, '');
if (browserLoader === loader) throw new Error('tools.js: the loader has no sentence about NODERAWFS');
write('wasm/tools.js', browserLoader);
write('wasm/tools.wasm', fs.readFileSync(path.join(built, 'bin/tools.wasm')));
write('browser/worker.js', createRequire(path.join(sources, 'build/packages/web/x.js'))('esbuild').buildSync({
  entryPoints: [path.join(sources, 'npm/browser/worker.js')], bundle: true, minify: true, write: false, format: 'iife', charset: 'utf8',
  target: 'chrome100', logLevel: 'warning' }).outputFiles[0].text);

// The catalogue; graphs take a tenth of their size and are read as they are.
const models = path.join(sources, 'models');
for (const folder of ['catalogue', 'configs'])
  fs.cpSync(path.join(models, folder), path.join(to, 'share/archsim/models', folder), { recursive: true });
execFileSync(path.join(sources, 'cmake/pack_models.sh'), ['--small', path.join(models, 'onnx'), path.join(to, 'share/archsim/models/onnx')]);

write('browser/files.json', JSON.stringify(fs.readdirSync(path.join(to, 'share'), { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile()).map(entry => path.relative(to, path.join(entry.parentPath ?? entry.path, entry.name))).sort()));

const required = createRequire(path.join(to, 'index.js'));
const { camel } = required('./lib/api.js'), host = required('./lib/host.js');
const api = required('./lib/api.js')(host);
const tools = api.tools();
const names = tools.map(({ name }) => name);
const functions = names.map(name => `  ${camel(name)}: tool('${name}'),\n`).join('');
const shared = ['ArchsimError', 'compare', 'estimate', 'runTool', 'tools'];
write('index.js', `// The interface for programs; index.d.ts tells of each function. Written by npm/build.mjs.

'use strict';
const { tool, ...api } = require('./lib/api.js')(require('./lib/host.js'));
module.exports = {
  ...api,
  compare: tool('compare_models'),
${functions}};
`);
write('index.mjs', `// The same for modules. Written by npm/build.mjs.
import api from './index.js';
export const { ${[...names.map(camel), ...shared].join(', ')} } = api;
export default api;
`);
write('browser.mjs', `${fs.readFileSync(path.join(sources, 'npm/browser/page.mjs'), 'utf8')}
export const compare = tool('compare_models');
${names.map(name => `export const ${camel(name)} = tool('${name}');\n`).join('')}`);

// Next steps name the tools, which are programs of the package too, rather than of whoever has the name elsewhere.
for (const name of names) {
  write(`bin/${name}.js`, `#!/usr/bin/env node\nprocess.argv.splice(2, 0, '${name}');\nrequire('./archsim.js');\n`);
  fs.chmodSync(path.join(to, `bin/${name}.js`), 0o755);
}
write('package.json', JSON.stringify({
  name: 'archsim',
  version,
  description: 'Estimates latency, energy, power, memory and cost of neural networks on chips, without running them',
  keywords: ['neural network', 'onnx', 'latency', 'energy', 'inference', 'performance model', 'mcp'],
  license: 'Apache-2.0',
  bin: { archsim: 'bin/archsim.js', ...Object.fromEntries(names.map(name => [name, `bin/${name}.js`])) },
  main: './index.js',
  types: './index.d.ts',
  exports: {
    '.': { types: './index.d.ts', import: './index.mjs', require: './index.js' },
    './browser': { types: './browser.d.ts', default: './browser.mjs' },
    './package.json': './package.json',
  },
  engines: { node: '>=18' },
  files: ['bin', 'lib', 'wasm', 'share', 'browser', 'browser.mjs', 'browser.d.ts', 'index.js', 'index.mjs', 'index.d.ts', 'LICENSE', 'NOTICES', 'README.md'],
}, null, 2) + '\n');

const schema = name => {
  const { status, stdout } = api.runTool([name, '--help-format', 'schema']);
  return status === 0 && stdout.startsWith('{') ? JSON.parse(stdout) : undefined;
};
// What the desk knows of fields: formats by name, and numbers that tools read from texts.
const { precisions, load } = host.keptDesk()({ ask: 'catalogue' });
const known = { precision: precisions.map(name => JSON.stringify(name)).join(' | '),
  ...Object.fromEntries(load.filter(({ truth, choices }) => !truth && choices.length === 0).map(({ key }) => [key, 'number | string'])) };
const declared = tools.map(({ name, title, inputSchema }) => {
  const type = typeName(name);
  const document = schema(name);
  const answer = document ? `${type}Answer` : 'unknown';
  const types = document ? answerTypes(answer, document) : '';
  const optional = inputSchema.required ? '' : '?';
  return { types: `${questionType(`${type}Question`, inputSchema, known)}
${types}`, here: `/** ${title}. Throws ArchsimError where there is no answer. */
export function ${camel(name)}(question${optional}: ${type}Question, options?: Options): ${answer};
`, there: `/** ${title}. Rejects with ArchsimError where there is no answer. */
export function ${camel(name)}(question${optional}: archsim.${type}Question): Promise<${document ? `archsim.${answer}` : answer}>;
` };
});
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

${declared.map(({ types, here }) => types + here).join('\n')}`);
write('browser.d.ts', `// The same in a web page, by promises. Written by npm/build.mjs.

import type * as archsim from './index.js';
export { ArchsimError } from './index.js';

/** Where the package's folder is served, for a page whose scripts were bundled to elsewhere. Before the first question. */
export function servedFrom(address: string | URL): void;
/** Bytes that questions name as a file: addFile('mine.onnx', bytes), compare({ model: ['./mine.onnx'] }). */
export function addFile(name: string, bytes: ArrayBuffer | Uint8Array): Promise<void>;
/** Ends the worker. */
export function close(): void;
/** \`archsim ARGUMENTS...\`, with what it prints in memory. */
export function runTool(args: string[], options?: { stdin?: string }): Promise<{ status: number; stdout: string; stderr: string }>;
/** The same as compareModels(). */
export function compare(question: archsim.CompareModelsQuestion): Promise<archsim.CompareModelsAnswer>;
/** One model on one device. */
export function estimate(...given: Parameters<typeof archsim.estimate>): Promise<ReturnType<typeof archsim.estimate>>;

${declared.map(({ there }) => there).join('\n')}`);
console.log(`${to}: archsim ${version}, ${names.length} tools`);
