import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const text = readFileSync(new URL('../../openapi/v1.yaml', import.meta.url), 'utf8');
const { components } = parse(text) as { components: Record<string, Record<string, object>> };
const names = Object.entries(components)
  .filter(([kind]) => kind !== 'securitySchemes')
  .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `${kind}/${name}`));

test('the contract has components', () => {
  expect(names.length).toBeGreaterThan(20);
});

test.each(names)('%s is referred to', (name) => {
  expect(text).toContain(`$ref: '#/components/${name}'`);
});
