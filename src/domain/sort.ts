/** What a list is sorted by, and in which direction. */
export interface Sort<Column extends string> {
  readonly column: Column;
  readonly order: 'asc' | 'desc';
}

type Compare<T> = (a: T, b: T) => number;

/** The first of them in an order, as a stable sort of all gives them: of thousands, a page shows fifty. */
export function sortFirst<T>(items: readonly T[], compare: Compare<T>, count: number): T[] {
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
