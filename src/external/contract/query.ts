type QueryValue = number | string | readonly string[];

const DIGITS = /^\d+$/;

/**
 * The values of the contract's query parameters, typed for validation without coercion, which would accept
 * `1e2`, `0x10`, `+5` and ` 5` as numbers (decision 1.3). Decimal digits become a number. A repeated
 * parameter, or one in brackets, becomes a list, which no parameter of the contract allows. Other parameters
 * are ignored.
 */
export function parseQuery(search: string, names: readonly string[]): Record<string, QueryValue> {
  const query: Record<string, QueryValue> = {};
  if (search === '') return query;
  // URLSearchParams removes one leading `?`. Without the added one, it would remove a `?` that is part of a
  // name.
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

/**
 * However many digits there are, the number is limited to a value that every engine can handle (decision
 * 1.4).
 */
function toValue(text: string): number | string {
  return DIGITS.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text;
}
