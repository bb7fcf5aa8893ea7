import type { Checkout } from './checkout.ts';
import type { Databases } from './databases.ts';
import type { Engine } from './engines.ts';

/** What each bench is given. */
export interface Bench {
  /** This checkout, which is compared with a baseline, or another one and this. */
  readonly checkouts: readonly Checkout[];
  readonly engine: Engine;
  readonly databases: Databases;
  /** For temporary files. */
  readonly folder: string;
  /** Whether what has this title was asked for. */
  readonly isWanted: (title: string) => boolean;
}

export const isAlone = ({ checkouts }: Bench) => checkouts.length === 1;
