import { onTestFinished } from 'vitest';
import type { Instant } from '../../src/domain/instant.ts';
import { listWork } from '../../src/jobs/mail.ts';
import { createMailChannel } from '../../src/notify/mail/channel.ts';
import { createMailer } from '../../src/notify/mail/mailer.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { updateMailServer } from '../../src/store/people/person-mail.ts';
import { readsOf } from './day-sources.ts';
import { aMailServer } from './mail-server.ts';
import { deliverAll, forgetWaits } from './outbox.ts';

export const BASE_URL = 'https://dmarc.example.com';

/** People of a database are told by a real mail server. */
export async function aMailChannel(
  store: Store,
  { maxMs, now = () => '2026-03-15T04:13:00Z' as Instant, ...given }: Given = {},
) {
  const { db } = store;
  const server = await aMailServer(given);
  await updateMailServer(db, '127.0.0.1');
  const mailer = createMailer(server.config, { maxMs });
  onTestFinished(mailer.close);
  const channel = createMailChannel({
    ...{ store, mailer, baseUrl: BASE_URL, now },
    listWork: (...query) => listWork({ store, days: readsOf(store) }, ...query),
  });
  return {
    ...{ channel, received: server.received },
    /** Delivers all that is due, and what is tried again or postponed when `all` is set. */
    deliver: async ({ all = false } = {}) => {
      if (all) await forgetWaits(db);
      await deliverAll(db, channel);
    },
    /** The subjects of the mails that came for an address, and forgets them. */
    takeSubjects: (to: string) => {
      const own = server.received.filter((one) => one.to.includes(to));
      for (const one of own) server.received.splice(server.received.indexOf(one), 1);
      return own.map(({ subject }) => subject);
    },
  };
}

type Given = Parameters<typeof aMailServer>[0] & {
  readonly now?: () => Instant;
  readonly maxMs?: number;
};
