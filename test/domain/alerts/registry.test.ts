import { readFileSync } from 'node:fs';
import { expect, expectTypeOf, test } from 'vitest';
import { parse } from 'yaml';
import type { components } from '../../../generated/v1.d.ts';
import { type AlertType, findRule, RULES } from '../../../src/domain/alerts/registry.ts';

/* `tsc` checks this file: a `@ts-expect-error` without an error is an error. */

const TYPES = RULES.map(({ type }) => type);

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const text = read('openapi/v1.yaml');
const { AlertType: parameter } = parse(text).components.parameters;
const { AlertContext, AlertContextByType } = parse(text).components.schemas;

/** What the first column of a table has of alert types. */
const listRows = (table: string) =>
  [...table.matchAll(/^\| `(alert\.\w+)` \|/gm)].map(([, type]) => type);

test('the alert types are those of the rules, each with a schema of its context and listed alone', () => {
  expectTypeOf<AlertType>().toEqualTypeOf<(typeof RULES)[number]['type']>();
  expectTypeOf<keyof components['schemas']['AlertContextByType']>().toEqualTypeOf<AlertType>();
  expectTypeOf<components['parameters']['AlertType']>().toEqualTypeOf<AlertType>();
  // @ts-expect-error No rule has this type. If any text were a type, a new type without words would compile.
  const unknown: AlertType = 'alert.unknown';
  expect(findRule(unknown)).toBeUndefined();
  expect(TYPES.map((type) => findRule(type)?.type)).toEqual(TYPES);
});

test.each([
  ['the filter of the list', parameter.schema.enum],
  ['the table of contexts', listRows(AlertContext.description)],
  ['the schemas of contexts', Object.keys(AlertContext['x-schema-by-type'])],
  ['the schemas for generated clients', Object.keys(AlertContextByType.properties)],
  [
    'the message about an unknown type',
    text.match(/"type" must be one of (alert[^"']*), given once/)?.[1]?.split(', '),
  ],
  ['the table of the manual', listRows(read('docs/manual.md'))],
])('%s has every alert type, in the order of the registry', (_where, types) => {
  expect(types).toEqual(TYPES);
});

test('the table of contexts names the schema that the type has', () => {
  const named = [...AlertContext.description.matchAll(/^\| `(alert\.\w+)` \| `(\w+)` \|/gm)];
  const schemas = named.map(([, type, name]) => [type, { $ref: `#/components/schemas/${name}` }]);
  expect(Object.fromEntries(schemas)).toEqual(AlertContext['x-schema-by-type']);
});

test('of two open alerts one is more urgent', () => {
  expect(new Set(RULES.map(({ urgency }) => urgency)).size).toBe(TYPES.length);
});
