/** An input that is built to cost much, or to be misread. */
export interface Hostile {
  readonly name: string;
  readonly bytes: () => Buffer;
}
