import type { Config } from '../config/config.ts';
import { toInstant } from '../domain/instant.ts';
import { createDaysReads, type DaysReads } from '../judging/reads.ts';
import type { MailServer } from '../notify/mail/mailer.ts';
import { findMonday } from '../notify/mail/pace.ts';
import { listReportAddresses, type ReportAddresses } from '../store/accounts/mail-address.ts';
import { insertSummaries } from '../store/notify/summaries.ts';
import { updateMailServer } from '../store/people/person-mail.ts';
import type { Running } from '../store/work/running.ts';
import type { ShardRun } from '../store/work/shards.ts';
import { type OutboxDeps, startOutbox } from './outbox.ts';

interface MailDeps extends OutboxDeps, ReportAddresses {
  /** Where links in mails lead. */
  readonly baseUrl: string;
}

const now = () => toInstant(new Date());

/** Sends mail to people, by an outbox of its own: a mail server that stalls delays no webhook. */
export function startMail(server: MailServer, deps: MailDeps): Running {
  return startOutbox('mail', () => openMail(server, deps), deps);
}

/** Loads what only an installation with a mail server needs. */
async function openMail(server: MailServer, deps: MailDeps) {
  const { createMailChannel } = await import('../notify/mail/channel.ts');
  const { createMailer } = await import('../notify/mail/mailer.ts');
  const { store, baseUrl } = deps;
  await updateMailServer(store.db, server.host);
  const mailer = createMailer(server);
  const logError = (error: unknown) =>
    deps.log.error({ err: error }, 'the sources of days could not be stored');
  const days = createDaysReads(store, { now: () => new Date(), logError });
  return createMailChannel({
    store,
    mailer,
    baseUrl,
    now,
    listWork: (accountId, limit) => listWork({ ...deps, days }, accountId, limit),
  });
}

/**
 * What the overview says of the domains of an account.
 *
 * @internal
 */
export async function listWork(
  { store, days, ...addresses }: Pick<MailDeps, 'store'> & ReportAddresses & { days: DaysReads },
  accountId: string,
  limit: number,
) {
  const { findAlertText, isUnconfirmed } = await import('../domain/alerts/alert-texts.ts');
  const { byRank, findWork, settleWork } = await import('../judging/work.ts');
  const { describeStep } = await import('../domain/next-step-texts.ts');
  const [address] = await listReportAddresses(store.db, accountId, addresses);
  const { items, alerts, range } = await findWork(store.reader, { accountId, now: new Date() });
  const first = { accountId, range, items: items.slice(0, limit) };
  const settled = await settleWork({ reader: store.reader, days }, first);
  const open = Map.groupBy(alerts, ({ domain_id }) => domain_id);
  const domains = settled.sort(byRank).map(({ id, name, step, facts: { dns } }) => {
    const { text, code = '' } = describeStep(step, { id, name, address, dns });
    const told = open.get(id)?.filter(({ context }) => !isUnconfirmed(JSON.parse(context)));
    const titles = told?.map(({ type }) => findAlertText(type).title);
    return { id, name, openAlerts: [...new Set(titles)], step: `${text} ${code}`.trim() };
  });
  return { domains, total: items.length };
}

/** Each hour: on Mondays it writes the summaries, and without a server it ends what waits for one. */
export async function tidyMail(
  { mailServer, store: { db } }: Pick<Config, 'mailServer'> & Pick<MailDeps, 'store'>,
  mayGoOn: ShardRun['mayGoOn'],
): Promise<boolean> {
  if (mailServer !== undefined)
    return await insertSummaries(db, { monday: findMonday(now()), now: now() }, mayGoOn);
  await updateMailServer(db, undefined);
  return true;
}
