// Makes a session of every file: node load.mjs MODULES FILE...
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';

const [modules, ...files] = process.argv.slice(2);
const ort = createRequire(path.join(path.resolve(modules), 'x.js'))('onnxruntime-node');
for (const file of files) {
  // Weights are inputs of the copy, so that nothing can be folded: the graph is loaded and resolved as it is.
  const session = await ort.InferenceSession.create(file, { graphOptimizationLevel: 'disabled' });
  assert(session.inputNames.length > 0 && session.outputNames.length > 0, file);
  await session.release();
}
console.log(`${files.length} copies load in ONNX Runtime ${ort.env.versions?.node ?? ''}`);
