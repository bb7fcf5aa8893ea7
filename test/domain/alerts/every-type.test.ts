import { describe, expect, test } from 'vitest';
import type { AlertFacts } from '../../../src/domain/alerts/registry.ts';
import { RULES } from '../../../src/domain/alerts/registry.ts';
import { addDays } from '../../../src/domain/instant.ts';
import { carryOut, D, FIRING, facts } from './facts.ts';

/** Contexts that another version may have written. */
const FOREIGN = [{}, { day: 7, sender: null, cause: 'unknown', reporters: 1, message_count: 'x' }];

describe.each(RULES)('$type', (rule) => {
  const { type } = rule;
  const fire = (change: Partial<AlertFacts> = {}) =>
    carryOut(facts({ ...FIRING[type], ...change })).filter((alert) => alert.type === type);

  test('fires once, whatever comes again', () => {
    const alerts = fire();
    expect(alerts).toHaveLength(1);
    expect(fire({ alerts })).toEqual(alerts);
  });

  test('does not fire for what is long ago', () => {
    expect(fire({ now: `${addDays(D, 60)}T06:00:00Z` })).toEqual([]);
  });

  test('does not fire for what was before the domain was resumed', () => {
    const watchedSince = `${addDays(D, 1)}T20:00:00Z`;
    expect(fire({ watchedSince, now: `${addDays(D, 1)}T21:00:00Z` })).toEqual([]);
  });

  test('describes a context of another version', () => {
    for (const context of FOREIGN) {
      expect(rule.describe(context)).toBeTypeOf('string');
      if ('findCause' in rule) expect(() => rule.findCause?.(context)).not.toThrow();
    }
  });
});
