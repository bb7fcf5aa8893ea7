import { expect, expectTypeOf, test } from 'vitest';
import type { components } from '../../../generated/v1.d.ts';
import { type AlertType, isAlertType, RULES } from '../../../src/domain/alerts/registry.ts';
import type { AlertContexts } from '../../../src/external/list-alerts.ts';

/* `tsc` checks this file: a `@ts-expect-error` without an error is an error. */

test('the alert types are those of the rules, each with a schema of its context and listed alone', () => {
  expectTypeOf<AlertType>().toEqualTypeOf<(typeof RULES)[number]['type']>();
  expectTypeOf<keyof AlertContexts>().toEqualTypeOf<AlertType>();
  expectTypeOf<components['parameters']['AlertType']>().toEqualTypeOf<AlertType>();
  // @ts-expect-error No rule has this type. If any text were a type, a new type without words would compile.
  const unknown: AlertType = 'alert.unknown';
  expect(isAlertType(unknown)).toBe(false);
  expect(RULES.map(({ type }) => type).every(isAlertType)).toBe(true);
});

test('a list by alert type is complete or does not compile', () => {
  const known = Object.fromEntries(RULES.map(({ type }) => [type, ''])) as Record<
    AlertType,
    string
  >;
  const { 'alert.policy_weakened': omitted, ...others } = known;
  // @ts-expect-error The words of one type are missing.
  const words: Record<AlertType, string> = others;
  expect(Object.keys(words)).toHaveLength(RULES.length - 1);
  expect(omitted).toBe('');
});
