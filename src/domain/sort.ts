/** What a list is sorted by, and in which direction. */
export interface Sort<Column extends string> {
  readonly column: Column;
  readonly order: 'asc' | 'desc';
}
