import type { Logger } from 'pino';
import { evaluate } from '../alerts/evaluate.ts';
import type { Config } from '../config/config.ts';
import { createLookUp } from '../dns/record-lookup.ts';
import { watchFolder } from '../intake/doors/folder/folder-door.ts';
import { startInboxWorker } from '../intake/inbox/worker.ts';
import { createReaderProcess } from '../intake/reader/reader-process.ts';
import { findDomainIds } from '../store/accounts/domains.ts';
import type { Store } from '../store/engine/open.ts';
import { deliver } from '../store/inbox/deliver.ts';
import { noteDoor } from '../store/inbox/doors.ts';
import type { Deliver } from '../store/inbox/incoming.ts';
import { findResults } from '../store/inbox/results.ts';
import { createClaims } from './claim-domains.ts';

interface Given {
  readonly store: Store;
  readonly log: Logger;
}

/** The inbox of this process. */
export interface Inbox {
  readonly names: readonly string[];
  /** For the doors of this process: the worker reads what they deliver at once. */
  readonly deliver: Deliver;
  /** Ends the doors, then the worker. */
  readonly stop: () => Promise<void>;
}

/** Starts the worker that reads the mails of the inbox, and the doors for folders. */
export function startInbox(config: Config, { store, log }: Given): Inbox {
  const { db } = store;
  const worker = startWorker(config, { store, log });
  const deliverAndWake: Deliver = async (incoming) => {
    await deliver(db, incoming);
    worker.wake();
  };
  const folders = config.watched.map((path) =>
    watchFolder({
      path,
      done: config.watchDone,
      now: () => new Date(),
      deliver: deliverAndWake,
      findResults: (keys) => findResults(db, keys),
      noteDoor: (door, error) => noteDoor(db, door, error),
      warn: (fields, message) => log.warn(fields, message),
    }),
  );
  return {
    names: ['inbox', ...config.watched.map((path) => `folder ${path}`)],
    deliver: deliverAndWake,
    stop: async () => {
      await Promise.all(folders.map(({ stop }) => stop()));
      await worker.stop();
    },
  };
}

function startWorker(config: Config, { store, log }: Given) {
  const { db } = store;
  const now = () => new Date();
  const logError = (error: unknown, message: string) => log.error({ err: error }, message);
  const { alertThresholds: thresholds, dnsServers, mailHost } = config;
  const claim = createClaims({ db, now, mailHost, lookUp: createLookUp(dnsServers) });
  return startInboxWorker({
    ...{ db, now, logError },
    documentReader: createReaderProcess(),
    afterStored: async ({ stored, unclaimed }) => {
      const names = new Set(stored);
      for (const { accountId, name } of await claim(unclaimed)) {
        log.info({ account_id: accountId, domain: name }, 'an account has a new domain');
        names.add(name);
      }
      await evaluate({ store, thresholds, now }, await findDomainIds(db, [...names]));
    },
  });
}
