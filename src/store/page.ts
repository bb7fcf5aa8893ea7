/** Which items of a list are wanted: `limit` of them after skipping `offset`. */
export type Page = {
  readonly limit: number;
  readonly offset: number;
};

/** A page as it was read: the items, and the list's total and version at the same moment. */
export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly version: string;
}
