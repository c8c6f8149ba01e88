// JSON Schema as TypeScript: the part of it that the tools' descriptions and the schemas of their documents use.

const text = value => JSON.stringify(value);
const comment = (schema, indent) => (schema.description ? `${indent}/** ${schema.description.replaceAll('*/', '* /')} */\n` : '');
const plain = /^[A-Za-z_$][\w$]*$/;

/** "CompareModels" of "compare_models". */
export const typeName = tool => tool.replace(/(^|_)([a-z])/g, (all, line, letter) => letter.toUpperCase());

const scalar = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

function members(schema, name, indent) {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([key, one]) =>
    `${comment(one, indent)}${indent}${plain.test(key) ? key : text(key)}${required.has(key) ? '' : '?'}: ${typeOf(one, name, indent)};\n`).join('');
}

function objectType(schema, name, indent) {
  const deeper = `${indent}  `;
  const known = members(schema, name, deeper);
  const more = schema.additionalProperties;
  if (!known) return `Record<string, ${more && typeof more === 'object' ? typeOf(more, name, indent) : 'unknown'}>`;
  return `{\n${known}${indent}}`;
}

// `name` stands before the names of the schema's own definitions.
function typeOf(schema, name, indent) {
  if (schema === true || schema === undefined) return 'unknown';
  if (schema.typescript) return schema.typescript;
  if (schema.$ref) return `${name}_${schema.$ref.split('/').at(-1)}`;
  if ('const' in schema) return text(schema.const);
  if (schema.enum) return schema.enum.map(text).join(' | ');
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return either.map(one => typeOf(one, name, indent)).map(one => (one.includes('\n') ? `(${one})` : one)).join(' | ');
  const kinds = [schema.type ?? (schema.properties ? 'object' : undefined)].flat();
  return [...new Set(kinds.map(kind => {
    if (kind === 'array') return `Array<${typeOf(schema.items ?? true, name, indent)}>`;
    if (kind === 'object') return objectType(schema, name, indent);
    return scalar[kind] ?? 'unknown';
  }))].join(' | ');
}

/** What a tool may be asked, from the JSON Schema of its input; `known`: types of texts by their keys. */
export function questionType(name, schema, known = {}) {
  const { max_rows: printed, ...given } = schema.properties; // of assistants alone
  const typed = (key, one) => (one.anyOf ? { ...one, anyOf: one.anyOf.map(part => typed(key, part)) }
    : one.type === 'array' ? { ...one, items: typed(key, one.items) } : one.type === 'string' && !one.enum ? { ...one, typescript: known[key] } : one);
  const properties = Object.fromEntries(Object.entries(given).map(([key, one]) => [key, typed(key, one)]));
  return `export interface ${name} ${objectType({ ...schema, properties }, name, '').replace(/^Record.*/, '{}')}\n`;
}

/** What it answers, from the schema of its document, with its definitions. */
export function answerTypes(name, schema) {
  const own = Object.entries({ ...schema.definitions, ...schema.$defs })
    .map(([key, one]) => `${comment(one, '')}export type ${name}_${key} = ${typeOf(one, name, '')};\n`).join('');
  return `${own}export type ${name} = ${typeOf(schema, name, '')};\n`;
}
