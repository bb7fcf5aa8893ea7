import type { Request, Response } from 'express';
import type { Store as LimitStore } from 'express-rate-limit';
import type { OpenSealing } from '../domain/access/sealing.ts';
import type { RouteFacts, RouteFinding } from '../domain/dns/report-route.ts';
import type { LookedRecords, SenderName } from '../domain/dns/sender-records.ts';
import type { Networks } from '../domain/sources/network.ts';
import type { LookedTls } from '../domain/tls/tls-check.ts';
import type { DaysReads } from '../judging/reads.ts';
import type { ReportAddresses } from '../store/accounts/mail-address.ts';
import type { Store } from '../store/engine/store.ts';

export type PageHandler = (deps: SettingsDeps, req: Request, res: Response) => Promise<void>;

export interface SettingsDeps extends ReportAddresses {
  readonly store: Store;
  readonly now: () => Date;
  /** The service's public URL; without it, the URL is taken from the request. */
  readonly baseUrl?: string | undefined;
  /** Asks DNS whether reports about a domain can come to one of the addresses, within a bounded time. */
  readonly checkRoute: (
    about: Pick<RouteFacts, 'domain' | 'addresses' | 'mailHost'>,
  ) => Promise<readonly RouteFinding[]>;
  /** Asks DNS, and the host of its policy file, what senders see of a domain's TLS reports and MTA-STS. */
  readonly checkTls: (domain: string, addresses: readonly string[]) => Promise<LookedTls>;
  /** Asks DNS for SPF records and keys. */
  readonly lookUpSenderRecords: (names: readonly SenderName[]) => Promise<LookedRecords>;
  /** From a file of the operator's, or Plumbline's own. */
  readonly networks?: Networks | undefined;
  readonly days: DaysReads;
  /** Whether people may upload reports, and whether these are believed as files are. Absent: off. */
  readonly uploads?: 'on' | 'trusted' | 'off' | undefined;
  /** Whether the worker looks up the names of sources. */
  readonly dnsChecks?: boolean;
  /** The OpenID provider for single sign-on; needs `baseUrl`. */
  readonly singleSignOn?:
    | { readonly issuer: string; readonly clientId: string; readonly clientSecret: string }
    | undefined;
  /** The counts of the limit with this name. Without it, a limit counts in the memory of this process. */
  readonly createStore?: ((limit: string) => LimitStore) | undefined;
  /** Encrypts what the database must not contain in the clear. Without it, nobody can set up a second factor. */
  readonly openSealing?: OpenSealing | undefined;
  /** Sends mail to people. Without one, links are shown to whoever hands them over. */
  readonly mailServer?: { readonly host: string } | undefined;
  /** Networks that webhooks may call though they are not public. */
  readonly webhookAllow?: readonly string[];
  readonly logError: (error: unknown, req: { id: string }) => void;
}
