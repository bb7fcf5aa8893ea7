import { InvalidArgumentError } from 'commander';
import { isPostgresUrl } from '../domain/database-address.ts';
import { type Instant, isDay } from '../domain/instant.ts';
import { isUuid } from '../domain/uuid.ts';

/** A whole number from 1. */
export function parseWhole(
  max: number,
  message = `It must be 1 to ${max}.`,
): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > max) throw new InvalidArgumentError(message);
    return value;
  };
}

export function parseId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be an id.');
  return text.toLowerCase();
}

/** The beginning of a UTC day. */
export function parseDay(text: string): Instant {
  if (!isDay(text)) throw new InvalidArgumentError('It is a day, such as 2026-03-15.');
  return `${text}T00:00:00Z`;
}

export function parsePostgresUrl(text: string): string {
  if (isPostgresUrl(text)) return text;
  throw new InvalidArgumentError('It must be a URL that begins with postgres://.');
}

/** Parses an argument that may be repeated: commander passes the values so far, and undefined for the first one. */
export function parseEach<T>(parse: (text: string) => T): (text: string, before?: T[]) => T[] {
  return (text, before = []) => [...before, parse(text)];
}
