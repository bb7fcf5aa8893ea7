import type { Store } from '../store/connection/open.ts';

/** The dependencies of the settings pages. */
export interface Given {
  readonly store: Store;
  readonly now: () => Date;
  /** The service's public URL; without it, the URL is taken from the request. */
  readonly baseUrl?: string | undefined;
  /** The OpenID provider for single sign-on; needs `baseUrl`. */
  readonly singleSignOn?:
    | { readonly issuer: string; readonly clientId: string; readonly clientSecret: string }
    | undefined;
  readonly logError: (error: unknown, req: { id: string }) => void;
}
