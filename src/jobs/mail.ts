import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { toInstant } from '../domain/instant.ts';
import { createMailChannel } from '../notify/mail/channel.ts';
import { createMailer } from '../notify/mail/mailer.ts';
import { createOutbox } from '../notify/outbox.ts';
import type { Store } from '../store/engine/store.ts';
import { updateMailServer } from '../store/people/person-mail.ts';
import { keepRunning, type Running } from './running.ts';

const REST_MS = 10_000;

/** Sends mail to people, by an outbox of its own: a mail server that stalls delays no webhook. */
export function startMail(
  server: NonNullable<Config['mailServer']>,
  { baseUrl = '', store: { db }, log }: Pick<Config, 'baseUrl'> & { store: Store; log: Logger },
): Running {
  const logError = (error: unknown) => log.error({ err: error }, 'mail could not be sent');
  const mailer = createMailer(server);
  const now = () => toInstant(new Date());
  const channel = createMailChannel({ db, mailer, baseUrl, now });
  const outbox = createOutbox({ db, channels: [channel], logError });
  let areReceivers = false;
  const step = async (signal: AbortSignal) => {
    if (!areReceivers) await updateMailServer(db, server.host);
    areReceivers = true;
    return await outbox.step(signal);
  };
  const loop = keepRunning((signal) =>
    step(signal).catch((error: unknown) => {
      logError(error);
      return REST_MS;
    }),
  );
  return {
    stop: async () => {
      await loop.stop();
      await outbox.settle();
      mailer.close();
    },
  };
}
