// ONNX files for the tests of the page, written message by message (protobuf wire format).

import fs from 'node:fs';

const varint = value => {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
};
const whole = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const head = (field, length) => Buffer.concat([varint((field << 3) | 2), varint(length)]);
const part = (field, content) => Buffer.concat([head(field, Buffer.byteLength(content)), Buffer.from(content)]);

const FLOAT = 1;
const dimension = size => part(1, typeof size === 'number' ? whole(1, size) : part(2, size));
const value = (name, shape) => Buffer.concat([part(1, name), part(2, part(1, Buffer.concat([whole(1, FLOAT), part(2, Buffer.concat(shape.map(dimension)))])))]);
const node = (type, inputs, output, name) => part(1, Buffer.concat([...inputs.map(input => part(1, input)), part(2, output), part(3, name), part(4, type)]));
const weights = (name, shape) => Buffer.concat([...shape.map(size => whole(1, size)), whole(2, FLOAT), part(8, name)]);
const model = graph => Buffer.concat([whole(1, 8), part(7, graph), part(8, whole(2, 17))]);

// A chain of matrix products whose weights take about `bytes` in the file; they are a hole in it.
export function modelOfSize(file, bytes) {
  const SIDE = 1024, PAYLOAD = SIDE * SIDE * 4, layers = Math.round(bytes / PAYLOAD);
  const nodes = [], tensors = [];
  for (let i = 0; i < layers; ++i) {
    nodes.push(node('MatMul', [i ? `y${i - 1}` : 'x', `w${i}`], i === layers - 1 ? 'out' : `y${i}`, `layer${i}`));
    const fields = weights(`w${i}`, [SIDE, SIDE]);
    // raw_data is the last field: its bytes follow its head.
    tensors.push(Buffer.concat([head(5, fields.length + head(9, PAYLOAD).length + PAYLOAD), fields, head(9, PAYLOAD)]));
  }
  const rest = [part(11, value('x', ['batch', SIDE])), part(12, value('out', ['batch', SIDE]))];
  const length = [...nodes, ...tensors, ...rest].reduce((sum, piece) => sum + piece.length, 0) + layers * PAYLOAD;
  const out = fs.openSync(file, 'w');
  let at = 0;
  const put = (bytes, hole = 0) => { fs.writeSync(out, bytes, 0, bytes.length, at); at += bytes.length + hole; };
  put(Buffer.concat([whole(1, 8), part(8, whole(2, 17)), head(7, length)]));
  nodes.forEach(piece => put(piece));
  rest.forEach(piece => put(piece));
  tensors.forEach(piece => put(piece, PAYLOAD));
  fs.ftruncateSync(out, at);
  fs.closeSync(out);
}

// Names that would do something where they were not text.
export function hostileModel() {
  const name = '<script>alert(1)</script>"\'&\u0000\u202e${alert(1)}';
  const graph = Buffer.concat([
    node('MatMul', ['x', name], 'y', name), node('Relu', ['y'], 'z', '</script><img src=x onerror=alert(2)>'), part(2, name),
    part(5, Buffer.concat([weights(name, [16, 16]), part(9, Buffer.alloc(1024))])),
    part(11, value('x', ['<b onmouseover=alert(3)>', 16])), part(12, value('z', ['n', 16])),
  ]);
  return model(graph);
}

// A GGUF file of a small decoder with a vocabulary of so many words.
export function ggufOfWords(words) {
  const number = (value, bytes) => { const made = Buffer.alloc(bytes); made.writeUIntLE(value, 0, Math.min(bytes, 6)); return made; };
  const text = said => Buffer.concat([number(Buffer.byteLength(said), 8), Buffer.from(said)]);
  const U32 = 4, TEXT = 8, LIST = 9, F16 = 1;
  const entries = [[`general.architecture`, TEXT, text('llama')],
    ...Object.entries({ block_count: 2, embedding_length: 64, 'attention.head_count': 4, 'attention.head_count_kv': 2, context_length: 2048 })
      .map(([key, value]) => [`llama.${key}`, U32, number(value, 4)]),
    ['tokenizer.ggml.tokens', LIST, Buffer.concat([number(TEXT, 4), number(words, 8), ...Array.from({ length: words }, (_, i) => text(`word${i}`))])]];
  const tensors = [['token_embd', [64, words]], ['output_norm', [64]], ['output', [64, words]], ...[0, 1].flatMap(layer =>
    [['attn_q', [64, 64]], ['attn_k', [64, 32]], ['attn_v', [64, 32]], ['attn_output', [64, 64]], ['ffn_gate', [64, 128]], ['ffn_up', [64, 128]],
      ['ffn_down', [128, 64]], ['attn_norm', [64]], ['ffn_norm', [64]]].map(([name, shape]) => [`blk.${layer}.${name}`, shape]))];
  return Buffer.concat([Buffer.from('GGUF'), number(3, 4), number(tensors.length, 8), number(entries.length, 8),
    ...entries.map(([key, kind, value]) => Buffer.concat([text(key), number(kind, 4), value])),
    ...tensors.map(([name, shape]) => Buffer.concat([text(`${name}.weight`), number(shape.length, 4), ...shape.map(size => number(size, 8)), number(F16, 4), number(0, 8)]))]);
}
