// The WebAssembly module under Node.js, with the catalogue of the sources: library(FOLDER OF THE MODULE, SOURCES).

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const MODELS = '/usr/share/archsim/models';

export async function library(built, sources) {
  // The loader of emscripten 3.1.6 would fetch the path of the module, which the fetch of Node.js refuses.
  const wasmBinary = fs.readFileSync(path.join(built, 'archsim.wasm'));
  const module = await createRequire(import.meta.url)(path.resolve(built, 'archsim.js'))({ wasmBinary });
  for (const entry of fs.readdirSync(path.join(sources, 'models'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const folder = `${MODELS}/${path.relative(path.join(sources, 'models'), entry.path)}`;
    module.FS.mkdirTree(folder);
    module.FS.writeFile(`${folder}/${entry.name}`, fs.readFileSync(path.join(entry.path, entry.name)));
  }
  const wrong = module.ccall('archsim_open_desk', 'string', [], []);
  if (wrong) throw new Error(wrong);
  return question => {
    const answer = JSON.parse(module.ccall('archsim_answer', 'string', ['string'], [JSON.stringify(question)]));
    if (answer.error) throw new Error(answer.error.message);
    return answer;
  };
}

/** What a report of compare_models holds but for the command line that made it: a page has none. */
export const withoutCommand = report => report.replace(/^<p class="command"><code>compare_models .* --format .*\n/m, '');
