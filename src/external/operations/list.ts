import type { Page, PageOf } from '../../store/lists/page.ts';

/** The requested page. The defaults are the contract's (description, section 4.1). */
export function toPage({ limit = 50, offset = 0 }: { limit?: number; offset?: number }): Page {
  return { limit, offset };
}

/** The list envelope (description, section 2.4), with the version of the list that it contains. */
export function toList<Row, Item>(
  { rows, total, version }: PageOf<Row>,
  toItem: (row: Row) => Item,
): { readonly version: string; readonly body: { readonly data: Item[]; readonly total: number } } {
  return { version, body: { data: rows.map(toItem), total } };
}
