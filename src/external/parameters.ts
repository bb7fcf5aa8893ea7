export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly description?: string;
  readonly schema: {
    readonly type?: string;
    readonly format?: string;
    readonly enum?: readonly string[];
    readonly pattern?: string;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly maxLength?: number;
    readonly default?: Value;
    /** What a value must be, for messages, where the other keywords do not say it. */
    readonly 'x-expected'?: string;
  };
}

type Value = number | string | readonly string[];
type Values = Readonly<Record<string, Value>>;

/** The values of a request's parameters: those that the contract has, with its defaults, and no others. */
export interface Parameters {
  readonly path: Values;
  readonly query: Values;
}

export type Pairs = readonly (readonly [name: string, text: string])[];

export function parseQuery(search: string): Pairs {
  // URLSearchParams removes one leading `?`. Without the added one, it would remove a `?` that is part of a name.
  return search === '' ? [] : [...new URLSearchParams(`?${search}`)];
}

/** The values of all parameters in one place, in the contract's order, so that equal values have one text. */
export function toValues(
  place: keyof Parameters,
  pairs: Pairs,
  parameters: readonly Parameter[],
): Values {
  const values: Record<string, Value> = {};
  for (const parameter of parameters) {
    if (parameter.in !== place) continue;
    const value = findValue(pairs, parameter) ?? parameter.schema.default;
    if (value !== undefined) values[parameter.name] = value;
  }
  return values;
}

/** A parameter that is repeated, or in brackets, has a list of values, which no parameter of the contract allows. */
function findValue(pairs: Pairs, parameter: Parameter): Value | undefined {
  const { name } = parameter;
  const found = pairs.filter(([key]) => toParameterName(key) === name);
  const [first] = found;
  if (first === undefined) return undefined;
  const isSingle = found.length === 1 && first[0] === name;
  return isSingle ? toValue(first[1], parameter) : found.map(([, text]) => text);
}

/** The parameter that a key of a query names, also in brackets, as in `limit[]`. */
export const toParameterName = (key: string): string => key.split('[', 1)[0] ?? '';

const DIGITS = /^\d+$/;

/**
 * Ajv's coercion would accept `1e2`, `0x10`, `+5` and ` 5` as numbers; here they stay text. However many digits there
 * are, a number is limited to a value that every engine can handle. UUIDs are the same in upper and lower case.
 */
function toValue(text: string, { schema: { type, format } }: Parameter): number | string {
  if (type === 'integer' && DIGITS.test(text))
    return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  return format === 'uuid' ? text.toLowerCase() : text;
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  date: 'a day like 2026-03-14',
  'date-time': 'a timestamp like 2026-03-14T00:00:00Z',
};

/** What the contract allows, for messages: `a whole number from 1 to 200, in decimal digits`. */
export function describeValue({ name, schema }: Parameter): string {
  const { type, format = '', pattern, minimum = 0, maximum, maxLength } = schema;
  if (schema['x-expected'] !== undefined) return schema['x-expected'];
  if (type === 'integer') {
    const range = maximum === undefined ? `of ${minimum} or more` : `from ${minimum} to ${maximum}`;
    return `a whole number ${range}, in decimal digits`;
  }
  // toValue reads no other types yet.
  if (type !== 'string')
    throw new Error(`The contract's parameter "${name}" is no integer or string.`);
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`;
  if (FORMATS[format] !== undefined) return FORMATS[format];
  if (pattern !== undefined) return `text that matches ${pattern}`;
  return maxLength === undefined ? 'text' : `text of at most ${maxLength} characters`;
}
