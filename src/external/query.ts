type QueryValue = number | string | readonly string[];

const DIGITS = /^\d+$/;

/**
 * The values of the contract's query parameters, ready to be validated without any coercion, which would
 * take `1e2`, `0x10`, `+5` and ` 5` for numbers (decision 1.3): decimal digits become a number, a repeated
 * parameter or one in brackets a list, which no parameter of the contract is. Other parameters are ignored.
 */
export function parseQuery(search: string, names: readonly string[]): Record<string, QueryValue> {
  const query: Record<string, QueryValue> = {};
  if (search === '') return query;
  // Without a `?` of its own in front, URLSearchParams would take away the first that is part of a name.
  const given = [...new URLSearchParams(`?${search}`)];
  for (const name of names) {
    const values = given.filter(([key]) => key === name || key.startsWith(`${name}[`));
    const [first] = values;
    if (first === undefined) continue;
    const isSingle = values.length === 1 && first[0] === name;
    query[name] = isSingle ? toValue(first[1]) : values.map(([, value]) => value);
  }
  return query;
}

/** However many digits there are, the number stays one that every engine can count with (decision 1.4). */
function toValue(text: string): number | string {
  return DIGITS.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text;
}
