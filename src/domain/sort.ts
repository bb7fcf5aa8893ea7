/** What a list is sorted by, and in which direction. */
export interface Sort<Column extends string> {
  readonly column: Column;
  readonly order: 'asc' | 'desc';
}

/** The first items in an order, as a stable sort of all gives them: a page shows fifty of thousands. */
export function sortFirst<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  count: number,
): T[] {
  let first: T[] = [];
  let last: T | undefined;
  for (const item of items) {
    if (last !== undefined && compare(item, last) >= 0) continue;
    first.push(item);
    if (first.length < 2 * count) continue;
    first = first.sort(compare).slice(0, count);
    last = first.at(-1);
  }
  return first.sort(compare).slice(0, count);
}
