import type { Request } from 'express';
import { describe, expect, test } from 'vitest';
import { daysBetween } from '../../../src/domain/instant.ts';
import {
  readRange,
  renderEmptyRange,
  renderRanges,
  toRangeQuery,
} from '../../../src/settings/frame/range.ts';
import { toReadable } from '../../support/visitor.ts';

const NOW = new Date('2026-03-15T12:00:00Z');
const DATA = { oldest: '2024-01-02', newest: '2026-03-13' };

const ask = (query: string, data: typeof DATA | { oldest: null; newest: null } = DATA) =>
  readRange({ originalUrl: `/x${query}` } as Request, data, NOW);

describe('a range', () => {
  test.each([
    ['', '2026-02-12', 30],
    ['?days=7', '2026-03-07', 7],
    ['?days=30', '2026-02-12', 30],
    ['?days=90', '2025-12-14', 90],
    ['?days=365', '2025-03-14', 365],
  ])('of a number of days ends with the newest day that has data: %j', (query, from, choice) => {
    const range = ask(query);
    expect(range).toEqual({ ...DATA, from, to: '2026-03-13', choice, notice: null });
    expect(daysBetween(range.from, range.to) + 1).toBe(choice);
  });

  test('ends with today when there is no data', () => {
    expect(ask('', { oldest: null, newest: null })).toMatchObject({
      from: '2026-02-14',
      to: '2026-03-15',
    });
  });

  test.each([
    ['?from=2024-02-01&to=2024-02-29', '2024-02-01', '2024-02-29'],
    ['?from=2024-02-29&to=2024-02-29', '2024-02-29', '2024-02-29'],
    ['?days=7&from=2030-01-01&to=2030-12-31', '2030-01-01', '2030-12-31'],
  ])('of two days is what was asked for: %j', (query, from, to) => {
    expect(ask(query)).toMatchObject({ from, to, choice: 'custom', notice: null });
  });

  test.each([
    ['?days=31', '“31” is no range'],
    ['?days=30.0', '“30.0” is no range'],
    [`?days=${'9'.repeat(5000)}`, `“${'9'.repeat(20)}” is no range`],
    ['?from=2026-03-02&to=2026-03-01', 'ends before it begins'],
    ['?from=2026-02-30&to=2026-03-01', 'needs two days, such as 2026-03-13'],
    ['?from=2026-02-01', 'needs two days'],
    ['?to=2026-02-01', 'needs two days'],
    ['?from=x&to=y', 'needs two days'],
    ['?from=1026-02-01&to=2026-03-01', 'needs two days'],
    ['?from=9999-12-31&to=9999-12-31', 'needs two days'],
  ])('that cannot be read is thirty days, and says so: %j', (query, words) => {
    const range = ask(query);
    expect(range).toMatchObject({ from: '2026-02-12', to: '2026-03-13', choice: 30 });
    expect(range.notice).toContain(words);
    expect(range.notice).toContain('these are 30 days.');
  });

  test('has ten years at most', () => {
    const range = ask('?from=1990-01-01&to=2026-03-13');
    expect(range.notice).toBe('A range has ten years at most: this one begins on 6 Mar 2016.');
    expect(daysBetween(range.from, range.to) + 1).toBe(3660);
  });
});

describe('the choice of a range', () => {
  test('marks the current one, and keeps the page’s other parameters', () => {
    const text = String(renderRanges('/p', ask('?days=90'), { reporter: 'A&B "x"' }));
    expect(text).toContain(
      '<a href="/p?reporter=A%26B+%22x%22&amp;days=90" aria-current="true">90 days</a>',
    );
    expect(text.match(/aria-current/g)).toHaveLength(1);
    expect(text).toContain('<input type="hidden" name="reporter" value="A&amp;B &quot;x&quot;">');
    expect(text).toContain('name="from" value="2025-12-14"');
    expect(text).not.toContain('role="alert"');
  });

  test('says why a range is another than the one asked for', () => {
    const text = String(renderRanges('/p', ask('?days=%3Cb%3E')));
    expect(text).toContain('role="alert">“&lt;b&gt;” is no range: these are 30 days.</p>');
  });

  test('is kept in links to other pages', () => {
    expect(toRangeQuery(ask('?days=7'))).toBe('days=7');
    expect(toRangeQuery(ask('?from=2024-01-01&to=2024-02-01'), { page: '2' })).toBe(
      'page=2&from=2024-01-01&to=2024-02-01',
    );
  });
});

describe('a range without reports', () => {
  test('leads to the newest one, of the same length', () => {
    const text = String(renderEmptyRange('/p', ask('?from=2026-04-01&to=2026-04-10')));
    expect(toReadable(text)).toContain(
      'No report covers this range; the newest is of 13 Mar 2026. Show the 10 days up to then',
    );
    expect(text).toContain('href="/p?from=2026-03-04&amp;to=2026-03-13"');
  });

  test('of a domain without reports says so', () => {
    const text = String(renderEmptyRange('/p', ask('', { oldest: null, newest: null })));
    expect(toReadable(text)).toContain('No report has come in yet.');
  });
});
