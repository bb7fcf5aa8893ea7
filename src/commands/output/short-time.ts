import type { Instant } from '../../domain/instant.ts';

/** `2026-03-15 04:12` for a table of people. JSON has the whole instant. */
export function toShortTime(at: Instant | null): string | null {
  return at === null ? null : at.slice(0, 16).replace('T', ' ');
}

export function toDayText(at: Instant | null): string | null {
  return at === null ? null : at.slice(0, 10);
}
