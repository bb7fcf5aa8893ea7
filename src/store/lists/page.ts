/** The wanted part of a list: `limit` items after the first `offset`. */
export type Page = {
  readonly limit: number;
  readonly offset: number;
};

/** A page of a list, with the list's total and version from the same snapshot. */
export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly version: string;
}
