import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const text = readFileSync(new URL('../../openapi/v1.yaml', import.meta.url), 'utf8');
const { components } = parse(text) as { components: Record<string, Record<string, object>> };
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
