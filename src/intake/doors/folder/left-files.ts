import { describeSystemError } from '../../../domain/system-error.ts';

export type Warn = (fields: { readonly path: string }, message: string) => void;

const MAX_LEFT = 1_000;

/** Files that cannot be read or moved, with the reason. Each is logged once. Beyond the bound they are not named. */
export class LeftFiles {
  readonly #warn: Warn;
  readonly #reasons = new Map<string, string>();

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  add(path: string, error: unknown): void {
    if (this.#reasons.has(path) || this.#reasons.size >= MAX_LEFT) return;
    this.#reasons.set(path, toReason(error));
    this.#warn({ path }, `The file is left where it is: ${toReason(error)}.`);
  }

  delete(path: string): void {
    this.#reasons.delete(path);
  }

  /** What operators have to know; undefined when no file is left. */
  describe(): string | undefined {
    const [first] = this.#reasons;
    if (first === undefined) return undefined;
    const others = this.#reasons.size - 1;
    return `${first[0]} is left where it is: ${first[1]}${others > 0 ? `; and ${others} more` : ''}`;
  }
}

/** The end of a sentence, without a full stop. */
export function toReason(error: unknown): string {
  const isSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
  if (isSystem) return describeSystemError(error);
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
