import type { Store } from '../store/open.ts';

/** What the settings pages need to work. */
export interface Given {
  readonly store: Store;
  readonly now: () => Date;
  /** Where people and partners find this service; without it, where they say they have found it. */
  readonly baseUrl?: string | undefined;
  /** The OpenID provider that people may sign in with as well; it needs `baseUrl`. */
  readonly singleSignOn?:
    | { readonly issuer: string; readonly clientId: string; readonly clientSecret: string }
    | undefined;
  readonly logError: (error: unknown, req: { id: string }) => void;
}
