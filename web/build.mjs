// Assembles the page from its sources, the WebAssembly module and the data: node build.mjs SOURCES PACKAGES MODULE OUT [MODELS]
// MODELS: the address of a host of models (https://huggingface.co) whose config.json readers may fetch by name; without it none.
// OUT/index.html fetches what it needs from beside it; OUT/archsim.html is the same page as one file, for file://.

import fs from 'node:fs';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import zlib from 'node:zlib';

const [sources, packages, built, out] = process.argv.slice(2, 6).map(folder => path.resolve(folder));
const modelHost = process.argv[6] ? new URL(process.argv[6]).origin : '';
const esbuild = createRequire(path.join(packages, 'x.js'))('esbuild');
const read = (...parts) => fs.readFileSync(path.join(...parts), 'utf8');
const chartLibrary = [path.join(sources, 'build/packages/usr/share/javascript/chart.js'), '/usr/share/javascript/chart.js']
  .map(folder => path.join(folder, 'chart.min.js')).find(file => fs.existsSync(file));

const bundled = entry => esbuild.buildSync({
  entryPoints: [path.join(sources, 'web/src', entry)], bundle: true, minify: true, write: false, format: 'iife', charset: 'utf8',
  target: 'chrome100', nodePaths: [path.join(packages, 'node_modules')], logLevel: 'warning',
}).outputFiles[0].text;

// Time stamps and names of systems stay out, so that equal sources make equal bytes.
const packed = bytes => zlib.gzipSync(bytes, { level: 9 });

const assets = 'src/report/assets';
const scripts = {
  'charts.js': fs.readFileSync(chartLibrary, 'utf8'),
  'report.js': read(sources, assets, 'report.js'),
  'page.js': bundled('page.js'),
};
const workers = {
  'worker.js': read(built, 'archsim.js') + '\n' + bundled('worker.js'),
  'layout.js': bundled('layout.js'),
};
const style = read(sources, assets, 'report.css') + read(sources, 'web/src/page.css');
const models = path.join(sources, 'models');
const catalogue = Object.fromEntries(fs.readdirSync(path.join(models, 'catalogue')).sort()
  .map(name => [name, read(models, 'catalogue', name)]));
const data = {
  'archsim.wasm.gz': packed(fs.readFileSync(path.join(built, 'archsim.wasm'))),
  'catalogue.json.gz': packed(JSON.stringify(catalogue)),
};
// The files that entries of the catalogue name.
const named = Object.values(catalogue).flatMap(text => JSON.parse(text).models ?? []).map(entry => entry.file).filter(Boolean);
for (const name of [...new Set(named)].sort()) data[`models/${name}.gz`] = packed(fs.readFileSync(path.join(models, name)));

// The place of "name" in the page; a function, for "$" means something in a replacing text.
const filled = (page, name, text) => page.replace(`<!-- ${name} -->`, () => text);
const page = read(sources, 'web/src/index.html').replace('<!-- style -->', () =>
  `${modelHost ? `<meta name="archsim-models" content="${modelHost}">\n` : ''}<!-- style -->`);
const policy = (script, host) => `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${script} `
  + `'wasm-unsafe-eval' blob:; worker-src ${host} blob:; connect-src ${[host, modelHost].filter(Boolean).join(' ') || "'none'"}; style-src 'self' 'unsafe-inline'; `
  + `img-src ${host} data: blob:; manifest-src ${host || "'none'"}; base-uri 'none'; form-action 'none'">`;

// Beside each other -----------------------------------------------------------------------------------------------
fs.rmSync(out, { recursive: true, force: true });
const served = { 'page.css': style, ...scripts, ...workers, ...data };
served['index.html'] = [
  ['policy', policy("'self'", "'self'")],
  ['style', '<link rel="stylesheet" href="page.css">\n<link rel="manifest" href="manifest.json">'],
  ['scripts', Object.keys(scripts).map(name => `<script defer src="${name}"></script>`).join('\n')],
].reduce((text, [name, part]) => filled(text, name, part), page);
served['icon.svg'] = read(sources, 'web/src/icon.svg');
served['manifest.json'] = `${JSON.stringify({
  name: 'Archsim: what a neural network costs', short_name: 'Archsim', start_url: './', scope: './', display: 'standalone',
  background_color: '#ffffff', theme_color: '#1f4e79', icons: [{ src: 'icon.svg', type: 'image/svg+xml', sizes: 'any' }],
}, null, 2)}\n`;
// What works without a network: all of it, in the version that its checksum names.
const digest = createHash('sha256');
for (const [name, content] of Object.entries(served)) digest.update(`${name}\0`).update(content);
served['service.js'] = `const VERSION = '${digest.digest('hex').slice(0, 16)}', FILES = ${JSON.stringify(Object.keys(served))};\n`
  + esbuild.transformSync(read(sources, 'web/src/service.js'), { minify: true, target: 'chrome100' }).code;

// One file --------------------------------------------------------------------------------------------------------
// In a script element only these letters could end it or begin a comment.
const inScript = text => text.replace(/<(?=\/script|!--|script)/gi, '\\x3C');
const hash = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const inline = Object.values(scripts).map(inScript);
const held = (name, type, text) => `<script type="${type}" data-file="${name}">${text}</script>`;
served['archsim.html'] = [
  ['policy', policy(inline.map(hash).join(' '), '')],
  ['style', `<style>\n${style}</style>`],
  ['scripts', [
    ...Object.entries(workers).map(([name, text]) => held(name, 'text/plain', inScript(text))),
    ...Object.entries(data).map(([name, bytes]) => held(name, 'application/gzip+base64', bytes.toString('base64'))),
    ...inline.map(text => `<script>${text}</script>`),
  ].join('\n')],
].reduce((text, [name, part]) => filled(text, name, part), page);

for (const [name, content] of Object.entries(served)) {
  fs.mkdirSync(path.dirname(path.join(out, name)), { recursive: true });
  fs.writeFileSync(path.join(out, name), content);
}
const kilobytes = names => (names.reduce((sum, name) => sum + packed(served[name]).length, 0) / 1000).toFixed(0);
const first = [...Object.keys(served)].filter(name => !name.startsWith('models/') && name !== 'archsim.html');
const graphs = Object.keys(data).filter(name => name.startsWith('models/'));
console.log(`${out}: ${kilobytes(first)} kB compressed before the first model, ${kilobytes(graphs)} kB of graphs; `
  + `archsim.html ${(served['archsim.html'].length / 1e6).toFixed(1)} MB`);
