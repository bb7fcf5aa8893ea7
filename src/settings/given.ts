import type { Store } from '../store/open.ts';

/** What the settings pages need to work. */
export interface Given {
  readonly store: Store;
  readonly now: () => Date;
  /** Where people and partners find this service; without it, where they say they have found it. */
  readonly baseUrl?: string | undefined;
  readonly logError: (error: unknown, req: { id: string }) => void;
}
