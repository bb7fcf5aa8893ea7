/** The same function, which computes each value once. What it has computed is kept as long as the function itself. */
export function remember<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, { readonly value: Value }>();
  return (key) => {
    const former = known.get(key);
    if (former !== undefined) return former.value;
    const value = compute(key);
    known.set(key, { value });
    return value;
  };
}
