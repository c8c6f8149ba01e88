// The package for Node.js as its users have it: node check.mjs TARBALL PROGRAM SOURCES SCRATCH
// It is installed into a bare folder without a network; the tools print the same bytes as those of this machine (PROGRAM, archsim) with the
// same exit status, to files, pipes and terminals; programs call it as a module of both kinds.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import zlib from 'node:zlib';
import { modelOfSize } from '../web/models.mjs';

const [tarball, tools, sources, scratch] = process.argv.slice(2).map(place => path.resolve(place));
const folder = path.join(scratch, 'npm-test');
const DAY = String(Date.parse('2026-01-31') / 1000);
const chromium = String(spawnSync('sh', ['-c', 'command -v chromium-headless-shell || command -v chromium || command -v chromium-browser']).stdout).trim();
const figures = {};

fs.rmSync(folder, { recursive: true, force: true });
fs.mkdirSync(folder, { recursive: true });
figures['package (MB)'] = fs.statSync(tarball).size / 1e6;
assert(figures['package (MB)'] <= 7.8, `the package has ${figures['package (MB)']} MB`);

const clean = { PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder, SOURCE_DATE_EPOCH: DAY };
const timed = (name, call) => {
  const begin = performance.now();
  const result = call();
  figures[name] = performance.now() - begin;
  return result;
};
timed('npm install --offline (ms)', () => execFileSync('npm',
  ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', '--cache', path.join(folder, 'cache'), tarball], { cwd: folder, env: clean }));
const program = path.join(folder, 'node_modules/.bin/archsim');
const node = (args, options = {}) => spawnSync(program, args, { cwd: folder, env: clean, maxBuffer: 1 << 28, ...options });
const native = (args, options = {}) => spawnSync(tools, args,
  { cwd: folder, env: { ...clean, ARCHSIM_DATA_DIR: sources }, maxBuffer: 1 << 28, ...options });

const notices = fs.readFileSync(path.join(folder, 'node_modules/archsim/NOTICES'), 'utf8');
for (const library of ['emscripten', 'fmt', 'nlohmann-json', 'rapidjson', 'eigen', 'boost', 'cli11', 'protozero', 'valijson', 'chart.js'])
  assert(notices.includes(library), `no notice of ${library}`);

// Files of the user's.
fs.copyFileSync(path.join(sources, 'models/onnx/resnet18.onnx'), path.join(folder, 'inside.onnx'));
fs.writeFileSync(path.join(folder, 'packed.onnx.gz'), zlib.gzipSync(fs.readFileSync(path.join(folder, 'inside.onnx'))));
fs.copyFileSync(path.join(sources, 'models/configs/qwen3-0.6b.json'), path.join(folder, 'config.json'));

// The same bytes ----------------------------------------------------------------------------------------------------
const lines = file => fs.readFileSync(path.join(sources, file), 'utf8').split('\n').filter(line => line && !line.startsWith('#'));
const commands = [...lines('tests/cli/reference_commands.txt'), ...lines('tests/npm/commands.txt')]
  .map(line => line.replaceAll('SOURCES', sources).replace(/--output (\S+)/, '--output $1'));
assert(commands.length >= 40);
// Lists name the files of the data, which lie elsewhere here: these have the same data in the same place.
const namesPlaces = /^(discover_models|list_hardware_mappers)/;
const differing = [];
for (const command of commands) {
  const words = command.split(/\s+/);
  const file = words[words.indexOf('--output') + 1];
  const run = call => {
    if (words.includes('--output')) fs.rmSync(path.join(folder, file), { force: true });
    const { status, stdout, stderr } = call(words);
    return { status, stdout: String(stdout), stderr: String(stderr), file: words.includes('--output') ? fs.readFileSync(path.join(folder, file), 'utf8') : '' };
  };
  const env = namesPlaces.test(command) ? { ...clean, ARCHSIM_DATA_DIR: sources } : clean;
  const [ours, theirs] = [run(args => node(args, { env })), run(native)];
  const parts = Object.keys(theirs).filter(part => ours[part] !== theirs[part]);
  if (parts.length) {
    const part = parts[0];
    const [a, b] = [String(ours[part]).split('\n'), String(theirs[part]).split('\n')];
    const at = a.findIndex((line, i) => line !== b[i]);
    differing.push(`${command}: ${part}, line ${at + 1}:\n  ${a[at]}\n  instead of\n  ${b[at]}\n  (status ${ours.status}, ${theirs.status}; ${ours.stderr.slice(0, 300)})`);
  }
}
assert.equal(differing.length, 0, `${differing.length} of ${commands.length} commands differ:\n${differing.join('\n')}`);

// Shorter names, pipes, standard input, files, terminals ------------------------------------------------------------
assert.equal(String(node(['compare', 'resnet18', '--hardware', 'H100']).stdout), String(node(['compare_models', 'resnet18', '--hardware', 'H100']).stdout));
// What an answer says to ask next is typed as it stands, with what the package installs alone.
const next = String(node(['compare', 'resnet18', '--hardware', 'H100', 'A100']).stdout).split('Next steps:\n')[1].replaceAll('\\\n', ' ').trim().split('\n');
assert(next.length >= 2);
for (const command of next) {
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: folder, env: { ...clean, PATH: `${path.dirname(program)}:${path.dirname(process.execPath)}:/usr/bin:/bin` } });
  assert.equal(status, 0, `${command}: ${stderr}`);
}
assert.equal(node([]).status, 1);
assert.match(String(node(['--help']).stdout), /usage: archsim TOOL/);
const shell = line => spawnSync('bash', ['-c', line], { cwd: folder, env: { ...clean, PATH: `${path.dirname(program)}:${clean.PATH}` } });
const piped = shell('archsim discover_models | head -3; echo "${PIPESTATUS[0]}"; archsim profile - < inside.onnx | tail -n +2 > a.txt; archsim profile inside.onnx > b.txt; cmp <(sed "s/inside/x/" a.txt) <(sed "s/inside/x/" b.txt) >&2; archsim compare resnet18 --hardware H100 --output r.csv --quiet && wc -l < r.csv');
assert.equal(String(piped.stderr).replace(/.*differ.*\n/, ''), '', String(piped.stderr));
assert(Number(String(piped.stdout).trim().split('\n').at(-1)) >= 2, String(piped.stdout));
// A terminal of 60 columns: `script` gives one.
const onTerminal = spawnSync('script', ['-qec', `stty cols 60 rows 1000; ${program} compare resnet18 --hardware H100`, '/dev/null'], { cwd: folder, env: { ...clean, TERM: 'xterm' }, input: '' });
const shown = String(onTerminal.stdout).replaceAll('\r', '');
assert(shown.includes('\x1b['), 'no colours on a terminal');
assert.equal(Math.max(...shown.replace(/\x1b\[[\d;]*m/g, '').split('\n').map(line => [...line].length)), 60);

// What WebAssembly has not: one sentence, status 2 -------------------------------------------------------------------
for (const [args, sentence] of [[['compare', 'resnet18', '--hardware', 'H100', '--save', 'r.db'], /SQLite|sqlite/], [['history', 'r.db', 'runs'], /./],
  [['compare', '--study', 'study.yaml'], /YAML/]]) {
  fs.writeFileSync(path.join(folder, 'study.yaml'), 'models: [resnet18]\nhardware: [H100]\n');
  fs.writeFileSync(path.join(folder, 'r.db'), 'x');
  const { status, stderr } = node(args);
  assert.match(String(stderr), sentence);
  assert([1, 2].includes(status) && String(stderr).trim().split('\n').length === 1, `${args}: status ${status}, ${stderr}`);
}

// How fast ------------------------------------------------------------------------------------------------------------
// How much longer than alone a process takes here because others run: wall time of a little work over its CPU time.
const begun = performance.now(), used = process.cpuUsage();
let spent = 0;
while (spent < 100) {
  const { user, system } = process.cpuUsage(used);
  spent = (user + system) / 1000;
}
const crowding = (performance.now() - begun) / spent;
figures['times as long as alone, because others run'] = crowding;
const best = call => Math.min(...Array.from({ length: 5 }, () => { const begin = performance.now(); call(); return performance.now() - begin; }));
figures['node alone (ms)'] = best(() => spawnSync(process.execPath, ['-e', '0']));
figures['start (ms)'] = best(() => node(['--version']));
figures['compare_models (ms)'] = best(() => node(['compare', 'resnet50', '--deployment', 'edge']));
modelOfSize(path.join(folder, 'large.onnx'), 100e6);
figures['100 MB ONNX file (ms)'] = best(() => assert.equal(node(['compare', 'large.onnx', '--deployment', 'edge']).status, 0));
fs.rmSync(path.join(folder, 'large.onnx'));

// For programs --------------------------------------------------------------------------------------------------------
const uses = `
const one = estimate('resnet50', 'H100', { precision: 'int8', batch_size: 8, dim: { height: 224 } });
assert.equal(one.hardware, 'H100');
assert(one.latency_s > 0 && one.energy_per_inference_j > 0);
const { verdicts, results } = compare({ model: ['resnet18', './inside.onnx'], hardware: ['H100', 'A100'], dim: { height: 224, width: 224 } });
assert.equal(results.length, 4);
assert(verdicts[0].lines.length > 0);
assert(discoverModels({ family: 'resnet' }).models.length > 3);
assert.throws(() => compare({ model: ['resnet81'] }), error => error instanceof ArchsimError && /resnet18/.test(error.message) && error.tool === 'compare_models');
assert.throws(() => compare({ model: ['resnet18'], hardwear: ['H100'] }), /is hardware meant/);
assert.throws(() => profileGraph({ model: '/etc/passwd' }, { files: '.' }), /lies outside of/);
assert(tools().every(tool => tool.inputSchema.type === 'object'));
const again = () => { const begin = performance.now(); const { latency_s } = estimate('resnet50', 'H100', { precision: 'int8', batch_size: 8 }); return [performance.now() - begin, latency_s]; };
const times = Array.from({ length: 20 }, again);
assert(times.every(([, seconds]) => seconds === estimate('resnet50', 'H100', { precision: 'int8', batch_size: 8 }, { files: '/' }).latency_s), 'the program that stays and one that starts answer alike');
globalThis.second = Math.min(...times.slice(1).map(([time]) => time));
fs.writeFileSync('other.onnx', fs.readFileSync('inside.onnx'));
const sized = () => compare({ model: ['./other.onnx'], hardware: ['H100'], dim: { height: 224, width: 224 } }).results[0].latency_s;
const small = sized();
fs.writeFileSync('other.onnx', fs.readFileSync(larger));
assert(sized() > small, 'a file that changed is read again');
const said = runTool(['compare', 'resnet18', '--hardware', 'H100']);
assert(said.status === 0 && said.stderr === '' && /Hardware Comparison/.test(said.stdout));
`;
const names = 'ArchsimError, compare, discoverModels, estimate, profileGraph, runTool, tools';
const larger = JSON.stringify(path.join(sources, 'models/onnx/resnet50.onnx'));
fs.writeFileSync(path.join(folder, 'a.cjs'), `const assert = require('node:assert'), fs = require('node:fs'), larger = ${larger};\nconst { ${names} } = require('archsim');\n${uses}`);
fs.writeFileSync(path.join(folder, 'b.mjs'), `import assert from 'node:assert';\nimport fs from 'node:fs';\nconst larger = ${larger};\nimport { ${names} } from 'archsim';\n${uses}`);
for (const file of ['a.cjs', 'b.mjs']) {
  fs.appendFileSync(path.join(folder, file), 'console.log(globalThis.second);\n');
  const { status, stderr, stdout } = spawnSync(process.execPath, [file], { cwd: folder, env: clean });
  assert(status === 0 && /^[\d.]+\n$/.test(String(stdout)), `${file}: ${stderr}${stdout}`);
  figures['second estimate (ms)'] = Number(stdout);
}
// Its types name every function, and every argument of a question.
const types = fs.readFileSync(path.join(folder, 'node_modules/archsim/index.d.ts'), 'utf8');
for (const { name, inputSchema } of JSON.parse(execFileSync(process.execPath, ['-e', 'console.log(JSON.stringify(require("archsim").tools()))'], { cwd: folder, maxBuffer: 1 << 26 }))) {
  assert(types.includes(`export function ${name.replace(/_([a-z])/g, (all, letter) => letter.toUpperCase())}(`), name);
  for (const key of Object.keys(inputSchema.properties)) assert(key === 'max_rows' || new RegExp(`\\b${key}\\??: `).test(types), `${name}.${key}`);
}
// A compiler takes them, for modules of both kinds, and finds what no tool answers.
const typedUses = `
import { compare, estimate, localModels, sizeService } from 'archsim';
const latency: number = estimate('resnet50', 'H100', { precision: 'int8', batch_size: 8, dim: { height: 224 } }).latency_s ?? 0;
const line: string = compare({ model: ['resnet18'], hardware: ['H100', 'A100'] }).verdicts[0].lines[0];
export const answers = [latency, line, sizeService({ model: 'qwen3-8b', rate: 8, concurrency: 200, output_tokens: 300, ttft_p99: '500ms' }), localModels({ kind: 'vision' }),
  compare({ model: ['resnet18'], precision: ['fp16', 'usual'] })];
// @ts-expect-error
compare({ model: ['resnet18'], precision: 'int7' });
// @ts-expect-error
compare({ model: ['resnet18'], hardwear: ['H100'] });
// @ts-expect-error
estimate(1, 'H100');
`;
const typedFiles = ['c.cts', 'd.mts', 'e.mts'];
for (const file of typedFiles.slice(0, 2)) fs.writeFileSync(path.join(folder, file), typedUses);
fs.writeFileSync(path.join(folder, 'e.mts'), `import { estimate, sizeService } from 'archsim/browser';
export const latency: Promise<number | null> = estimate('resnet50', 'H100', { batch_size: 8 }).then(result => result.latency_s);
export const sized = sizeService({ model: 'qwen3-8b', rate: 8, ttft_p99: '500ms' });
`);
const compiler = path.join(sources, 'build/packages/web/node_modules/typescript/bin/tsc');
const compiled = spawnSync(process.execPath, [compiler, '--strict', '--noEmit', '--target', 'es2022', '--module', 'node16', ...typedFiles],
  { cwd: folder, env: clean });
assert.equal(compiled.status, 0, `tsc: ${compiled.stdout}${compiled.stderr}`);

// A page uses it, served as it is installed: the same answers, and files of the reader's.
{
  assert(chromium, 'a browser is missing: scripts/setup test installs it');
  const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' };
  fs.writeFileSync(path.join(folder, 'page.html'), '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>archsim</title>');
  const server = http.createServer((request, response) => {
    const file = path.join(folder, path.normalize(new URL(request.url, 'http://x').pathname));
    if (!fs.existsSync(file)) { response.writeHead(404).end(); return; }
    response.writeHead(200, { 'Content-Type': kinds[path.extname(file)] ?? 'application/octet-stream' });
    fs.createReadStream(file).pipe(response);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const { chromium: driver } = createRequire(path.join(sources, 'build/packages/browser/x.js'))('playwright-core');
  const browser = await driver.launch({ executablePath: chromium, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/page.html`);
  const answers = await page.evaluate(async () => {
    const { addFile, close, compare, discoverModels, estimate, localModels } = await import('/node_modules/archsim/browser.mjs');
    const one = await estimate('resnet50', 'H100', { precision: 'int8', batch_size: 8 });
    await addFile('mine.onnx', await (await fetch('/inside.onnx')).arrayBuffer());
    const mine = await compare({ model: ['./mine.onnx'], hardware: ['H100'], dim: { height: 224, width: 224 } });
    const begin = performance.now();
    await estimate('resnet50', 'H100', { precision: 'int8', batch_size: 8 });
    const second = performance.now() - begin;
    const wrong = await compare({ model: ['resnet81'] }).catch(problem => `${problem.name}: ${problem.message}`);
    const models = (await discoverModels({ family: 'resnet' })).models.length;
    const local = await localModels({ on: 'RTX-4090', models: ['qwen3-8b'] });
    close();
    return { one, mine: mine.results[0].latency_s, second, wrong, models, local: local.schema };
  });
  await browser.close();
  server.close();
  const here = JSON.parse(execFileSync(process.execPath, ['-e', `const { compare, estimate } = require('archsim');
    console.log(JSON.stringify({ one: estimate('resnet50', 'H100', { precision: 'int8', batch_size: 8 }),
      mine: compare({ model: ['./inside.onnx'], hardware: ['H100'], dim: { height: 224, width: 224 } }).results[0].latency_s }))`], { cwd: folder, env: clean }));
  assert.deepEqual(answers.one, here.one, 'a browser and Node.js answer alike');
  assert.equal(answers.mine, here.mine);
  assert.match(answers.wrong, /^ArchsimError: .*resnet18/);
  assert(answers.models > 3 && answers.local.startsWith('archsim.local_models/'), JSON.stringify(answers));
  figures['second estimate in a browser (ms)'] = answers.second;
}

// The page on installing, as its readers type it, in a folder with the package alone.
const bare = path.join(folder, 'bare');
fs.mkdirSync(bare);
fs.copyFileSync(tarball, path.join(bare, path.basename(tarball)));
const section = /^## With Node\.js[^]*?(?=^## )/m.exec(fs.readFileSync(path.join(sources, 'docs/install.md'), 'utf8'))[0];
const typed = [...section.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block]) => block.trim().split('\n'));
assert(typed.length >= 3, 'docs/install.md has no commands for Node.js');
for (const command of typed) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: bare, env: { ...clean, npm_config_offline: 'true', npm_config_audit: 'false' } });
  assert.equal(status, 0, `${command}: ${stderr}`);
  if (command.includes(' compare ')) assert.match(String(stdout), /^Fastest: /m, command);
  if (command.includes('latency_s')) assert(Number(stdout) > 0, `${command}: ${stdout}`);
}

console.log(`Node.js ${process.versions.node}: ${commands.length} commands: the same bytes; docs/install.md: ${typed.length}`);
console.log(JSON.stringify(figures));
// The figures are printed; a failure is three times the bar, and what others take of this machine.
const bars = { 'npm install --offline (ms)': 5000, 'start (ms)': 150, 'compare_models (ms)': 250, 'second estimate (ms)': 5, '100 MB ONNX file (ms)': 1500 };
for (const [name, bar] of Object.entries(bars)) assert(figures[name] <= 3 * bar * crowding, `${name} is ${figures[name].toFixed(0)}, the bar is ${bar}`);
