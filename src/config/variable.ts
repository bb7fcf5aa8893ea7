import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';

/* The kinds of values of variables. To load a schema library would take longer than a command's own work. */

/** The environment has invalid settings. The message names each variable, for a person to correct. */
export class ConfigError extends Error {}

export interface Variable<T> {
  readonly name: string;
  /** The value, or undefined when the text is not allowed. */
  readonly parse: (text: string) => T | undefined;
  /** What is allowed, to be read after the variable's name: `must be …`. */
  readonly rule: string;
  readonly fallback: T;
}

interface Range {
  readonly min: number;
  readonly max: number;
  readonly why?: string;
}

/** A whole number in decimal digits: `1e3`, `0x10` and ` 5` are mistakes. */
export function whole<T extends number | undefined>(
  name: string,
  fallback: T,
  { min, max, why }: Range,
): Variable<number | T> {
  const rule = `must be a whole number from ${min} to ${max}${why === undefined ? '' : `: ${why}`}`;
  const parse = (text: string) => parseNumber(text, /^\d{1,15}$/, { min, max });
  return { name, parse, rule, fallback };
}

export function decimal(name: string, fallback: number, { min, max }: Range): Variable<number> {
  const rule = `must be a number from ${min} to ${max} with at most two decimals`;
  const parse = (text: string) => parseNumber(text, /^\d{1,15}(\.\d{1,2})?$/, { min, max });
  return { name, parse, rule, fallback };
}

function parseNumber(text: string, digits: RegExp, { min, max }: Range): number | undefined {
  const value = digits.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

export function anyText<T extends string | undefined>(
  name: string,
  fallback: T,
): Variable<string | T> {
  return { name, parse: (value) => value, rule: 'must be a text', fallback };
}

export function choice<const T extends string>(
  name: string,
  allowed: readonly [T, ...T[]],
  fallback: T,
): Variable<T> {
  const parse = (text: string) => allowed.find((value) => value === text);
  return { name, parse, rule: `must be one of ${allowed.join(', ')}`, fallback };
}

export function list(
  name: string,
  isAllowed: (item: string) => boolean,
  rule: string,
): Variable<readonly string[]> {
  const parse = (text: string) => {
    const items = text.split(',').map((item) => item.trim());
    const named = items.filter((item) => item !== '');
    return named.every(isAllowed) ? named : undefined;
  };
  return { name, parse, rule: `must be ${rule}, separated by commas`, fallback: [] };
}

export function networks(name: string, ports = /^$/): Variable<readonly string[]> {
  const isValid = (value: string) => isNetwork(value) || ports.test(value);
  return list(name, isValid, 'addresses or networks like 10.0.0.0/8');
}

function isNetwork(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  );
}

export function parsed<T>(
  name: string,
  parse: (text: string) => T | undefined,
  rule: string,
): Variable<T | undefined> {
  return { name, parse, rule, fallback: undefined };
}

/** An absolute path: the process may be started in any folder. */
export function file(name: string): Variable<string | undefined> {
  const parse = (path: string) => (isAbsolute(path) ? path : undefined);
  return parsed(name, parse, 'must be the absolute path of a file');
}
