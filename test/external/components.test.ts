import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Contract {
  readonly paths: Readonly<Record<string, { get: { parameters: readonly { $ref: string }[] } }>>;
  readonly components: Readonly<Record<string, Record<string, object>>>;
}

const read = (path: string) =>
  readFileSync(new URL(`../../openapi/${path}`, import.meta.url), 'utf8');
const text = read('v1.yaml');
const { paths, components } = parse(text) as Contract;
/** Nothing refers to it: no answer has it. */
const BY_TYPE = 'AlertContextByType';
type Schemas = Readonly<Record<string, Record<'properties' | 'x-schema-by-type', object>>>;
const names = Object.entries(components)
  .filter(([kind]) => kind !== 'securitySchemes')
  .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `${kind}/${name}`));

test('the contract has components', () => {
  expect(names.length).toBeGreaterThan(20);
});

test.each(names.filter((name) => name !== `schemas/${BY_TYPE}`))('%s is referred to', (name) => {
  expect(text).toContain(`$ref: '#/components/${name}'`);
});

test('each type of alert has its context’s schema by a reference that every tool follows', () => {
  const { [BY_TYPE]: byType, AlertContext: context } = components['schemas'] as Schemas;
  expect(byType?.properties).toEqual(context?.['x-schema-by-type']);
});

/** oapi-codegen makes a type of each. */
test('a schema, a parameter and a response have different names', () => {
  const kinds = ['schemas', 'parameters', 'responses'] as const;
  const all = kinds.flatMap((kind) => Object.keys(components[kind] ?? {}));
  expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
});

/** Several generators make arguments of them, in this order. */
test('the parameters of a released operation keep their order, and new ones come after them', () => {
  const released = parse(read('released/v1.yaml')) as Contract;
  for (const [path, { get }] of Object.entries(released.paths)) {
    const own = paths[path]?.get.parameters.slice(0, get.parameters.length);
    expect(own, path).toEqual(get.parameters);
  }
});
