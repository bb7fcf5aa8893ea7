import { isAbsolute } from 'node:path';

/*
 * The kinds of values that a variable of the environment can have. These few functions take the place of a
 * schema library, whose start would cost every command more than its own work.
 */

/** The environment has invalid settings. The message names each variable, for a person to correct. */
export class ConfigError extends Error {}

/** A variable: what its text means, and what to tell a person whose text is not allowed. */
export interface Variable<T> {
  /** The value, or undefined when the text is not allowed. */
  readonly parse: (text: string) => T | undefined;
  /** What is allowed, to be read after the variable's name: `must be …`. */
  readonly rule: string;
  /** The value when the variable is not set. */
  readonly fallback: T;
}

export type Variables = Readonly<Record<string, Variable<unknown>>>;
export type ValuesOf<V extends Variables> = {
  readonly [Name in keyof V]: V[Name] extends Variable<infer T> ? T : never;
};

interface Range {
  readonly min: number;
  readonly max: number;
  /** Why there is a limit, when the number alone does not say it. */
  readonly why?: string;
}

/** A whole number in decimal digits: `1e3`, `0x10` and ` 5` are mistakes. */
export function whole(fallback: number, { min, max, why }: Range): Variable<number> {
  const rule = `must be a whole number from ${min} to ${max}${why === undefined ? '' : `: ${why}`}`;
  return { parse: (text) => parseNumber(text, /^\d{1,15}$/, { min, max }), rule, fallback };
}

/** A number with at most two decimals. */
export function decimal(fallback: number, { min, max }: Range): Variable<number> {
  const rule = `must be a number from ${min} to ${max} with at most two decimals`;
  const parse = (text: string) => parseNumber(text, /^\d{1,15}(\.\d{1,2})?$/, { min, max });
  return { parse, rule, fallback };
}

function parseNumber(text: string, digits: RegExp, { min, max }: Range): number | undefined {
  const value = digits.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

export function text<T extends string | undefined>(fallback: T): Variable<string | T> {
  return { parse: (given) => given, rule: 'must be a text', fallback };
}

export function choice<const T extends string>(
  allowed: readonly [T, ...T[]],
  fallback: T,
): Variable<T> {
  const parse = (given: string) => allowed.find((value) => value === given);
  return { parse, rule: `must be one of ${allowed.join(', ')}`, fallback };
}

/** A list in one variable, separated by commas. */
export function list(
  isAllowed: (item: string) => boolean,
  rule: string,
): Variable<readonly string[]> {
  const parse = (given: string) => {
    const items = given.split(',').map((item) => item.trim());
    const named = items.filter((item) => item !== '');
    return named.every(isAllowed) ? named : undefined;
  };
  return { parse, rule: `must be ${rule}, separated by commas`, fallback: [] };
}

/** A URL, which `toValue` checks further and turns into the value. */
export function url(
  toValue: (url: URL, given: string) => string | undefined,
  rule: string,
): Variable<string | undefined> {
  return parsed(
    (given) => (URL.canParse(given) ? toValue(new URL(given), given) : undefined),
    rule,
  );
}

/** A text that `parse` checks and turns into the value. */
export function parsed(
  parse: (text: string) => string | undefined,
  rule: string,
): Variable<string | undefined> {
  return { parse, rule, fallback: undefined };
}

/** The path of a file, wherever the process was started. */
export const file = parsed(
  (path) => (isAbsolute(path) ? path : undefined),
  'must be the absolute path of a file',
);

/** The values of all variables, and a line for each one whose text is not allowed. An empty text is not set. */
export function readVariables<V extends Variables>(
  variables: V,
  env: NodeJS.ProcessEnv,
): { values: ValuesOf<V>; problems: readonly string[] } {
  const problems: string[] = [];
  const values = Object.entries(variables).map(([name, { parse, rule, fallback }]) => {
    const given = env[name] || undefined;
    const value = given === undefined ? fallback : parse(given);
    if (given !== undefined && value === undefined) problems.push(`${name}: ${rule}`);
    return [name, value];
  });
  return { values: Object.fromEntries(values) as ValuesOf<V>, problems };
}
