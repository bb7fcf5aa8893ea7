import type { Logger } from 'pino';
import { evaluate } from '../alerts/evaluate.ts';
import type { Config } from '../config/config.ts';
import { createMailAnswers } from '../dns/mail-answers.ts';
import { createLookUp } from '../dns/record-watch.ts';
import { type Incoming, toDoorLabel } from '../domain/incoming.ts';
import { toFirstKept } from '../domain/retention.ts';
import { startInboxWorker } from '../intake/inbox/worker.ts';
import type { IngestedDocument } from '../intake/ingest.ts';
import type { ParserProcess } from '../intake/parser/parser-process.ts';
import { createVerifier, type VerifyMails } from '../intake/verification/verifier.ts';
import type { Metrics, SeenDocument } from '../metrics/metrics.ts';
import { findDomainIds } from '../store/domains/domains.ts';
import type { Store } from '../store/engine/store.ts';
import type { ClaimedMail } from '../store/inbox/claims.ts';
import { createDeliver } from '../store/inbox/deliver.ts';
import { createClaims } from './claim-domains.ts';

export interface InboxDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  /** One that parses nothing in this process, when it serves. */
  readonly parser: ParserProcess;
}

export function startInbox(config: Config, { store, log, parser, metrics }: InboxDeps) {
  const { db } = store;
  const now = () => new Date();
  const logError = (error: unknown, message: string) => log.error({ err: error }, message);
  const { alertThresholds: thresholds, dnsServers, mailHost } = config;
  const claim = createClaims({ db, now, mailHost, lookUp: createLookUp(dnsServers) });
  const worker = startInboxWorker({
    db,
    now,
    logError,
    parser,
    verify: createMailVerifier(config, parser),
    observe: (mail, document) => metrics?.observeDocument(toSeenDocument(mail, document, now())),
    logDone: ({ mail: { id: mail, door, account_id }, result: outcome, counts, reason }) =>
      log.info({ mail, door, account_id, outcome, counts, reason }, 'a mail was read'),
    keptFrom: () => toFirstKept(now(), config.kept.reportsDays),
    afterStored: async ({ stored, unclaimed }) => {
      const names = new Set(stored);
      for (const { accountId, name } of await claim(unclaimed)) {
        log.info({ account_id: accountId, domain: name }, 'an account has a new domain');
        names.add(name);
      }
      const observe = metrics?.observeEvaluation;
      await evaluate({ store, thresholds, now, observe }, await findDomainIds(db, [...names]));
    },
  });
  const deliver = createDeliver(db);
  return {
    /** The doors of this process use it: the worker reads at once what they deliver. */
    deliver: async (incoming: Incoming) => {
      await deliver(incoming);
      worker.wake();
    },
    stop: worker.stop,
  };
}

function toSeenDocument(
  { door, received_at }: Pick<ClaimedMail, 'door' | 'received_at'>,
  { outcome, refusal }: IngestedDocument,
  now: Date,
): SeenDocument {
  const seconds = Math.max(0, now.getTime() - Date.parse(received_at)) / 1000;
  return { door: toDoorLabel(door), outcome, reason: refusal?.reason, seconds };
}

/**
 * Says who sent a mail, by the configured DNS servers. Without one, mails are believed as files are.
 * @internal A test creates it.
 */
export function createMailVerifier(
  config: Config,
  { check }: Pick<ParserProcess, 'check'>,
): VerifyMails | undefined {
  const { dnsServers, smtp, trustedServers } = config;
  if (config.mailVerification === 'off') return undefined;
  const trustedNetworks = smtp?.trusted ?? [];
  const ask = createMailAnswers(dnsServers);
  return createVerifier({ ask, check, trustedServers, trustedNetworks });
}
