import { ignoreNotFound } from '../../domain/failure.ts';
import { END_OF_TIME, later } from '../../domain/instant.ts';
import { toUnsubscribeToken } from '../../domain/mail-choice.ts';
import { findDomainName } from '../../store/domains/domains.ts';
import type { DeliveryOutcome, DueDelivery } from '../../store/notify/claims.ts';
import {
  confirmAddress,
  findPersonMail,
  listLeftOut,
  type Pace,
  type PersonMail,
  recordRefusal,
  updatePace,
} from '../../store/people/person-mail.ts';
import type { Batch, Channel } from '../outbox.ts';
import { type Alert, type AlertChange, toAlertLetter, toListLetter } from './alert-letters.ts';
import { findSending, hasLink, type LetterDeps, type Sending } from './event-letters.ts';
import { renderLetter } from './letter.ts';
import { findRefusal, type Mailer } from './mailer.ts';
import { findDailyTime, msUntilDaily, planMail, planOther } from './pace.ts';

type MailDeps = LetterDeps & { readonly mailer: Pick<Mailer, 'send' | 'close'> };

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** Five days, as mail servers try. */
const WAITS_MS = [
  ...[10 * SECOND, 60 * SECOND, 300 * SECOND, HOUR / 2],
  ...[1, 2, 4, 8, 12, 12, 24, 24, 24].map((hours) => hours * HOUR),
];
/** What waited longer, because an address was stopped or there was no server, is no news any more. */
const MAX_AGE_MS = 5 * 24 * HOUR;

/** Tells people by mail. The deliveries of one person come together, so several can be one mail. */
export function createMailChannel(deps: MailDeps): Channel {
  return {
    name: 'mail',
    atOnce: 200,
    waitsMs: WAITS_MS,
    close: deps.mailer.close,
    deliver: async (batch) => {
      const person = await findPersonMail(deps.store.db, batch.receiverId).catch(ignoreNotFound);
      if (person !== undefined) await new MailBatch(deps, batch, person).deliver();
    },
  };
}

class MailBatch {
  readonly #deps: MailDeps;
  readonly #batch: Batch;
  readonly #person: PersonMail;
  #pace: Pace;
  /** Set by a failure that is not about one mail: the others would fail as well. */
  #isEnded = false;

  constructor(deps: MailDeps, batch: Batch, person: PersonMail) {
    this.#deps = deps;
    this.#batch = batch;
    this.#person = person;
    this.#pace = person;
  }

  async deliver(): Promise<void> {
    const { alerts, personId } = this.#person;
    const now = this.#deps.now();
    const oldest = later(now, -MAX_AGE_MS);
    const daily = alerts === 'daily' ? findDailyTime(now) : END_OF_TIME;
    const domains = await listLeftOut(this.#deps.store.db, personId);
    const leftOut = new Set(domains.map(({ id }) => id));
    const groups = Object.groupBy(this.#batch.deliveries, (due) => {
      if (due.at < oldest) return 'old';
      const kind = findKind(due);
      if (kind !== 'alerts') return kind;
      if (alerts === 'none' || leftOut.has(parse(due).domain_id)) return 'unwanted';
      return due.at < daily ? 'alerts' : 'early';
    });
    await this.#drop(groups.old, 'It waited for too long.');
    await this.#drop(groups.unwanted, 'The person wants no mail about it.');
    await this.#record(groups.early, { kind: 'postponed', atLeastMs: msUntilDaily(now) });
    for (const due of groups.links ?? []) await this.#sendOther([due], 'link');
    await this.#sendAlerts(groups.alerts ?? []);
    for (const due of groups.others ?? []) await this.#sendOther([due], 'other');
    await this.#sendOther(groups.keys ?? [], 'keys');
  }

  #mustEnd(): boolean {
    return this.#isEnded || this.#batch.signal.aborted;
  }

  /** What is not sent, and not tried again. */
  async #drop(dropped: readonly DueDelivery[] | undefined, answer: string): Promise<void> {
    await this.#record(dropped, { kind: 'delivered', answer });
  }

  async #record(deliveries: readonly DueDelivery[] = [], outcome: DeliveryOutcome): Promise<void> {
    if (deliveries.length > 0)
      await this.#batch.record(new Map(deliveries.map((one) => [one, outcome])));
  }

  /** Sends one mail. */
  async #sendOther(dues: readonly DueDelivery[], kind: 'link' | 'keys' | 'other'): Promise<void> {
    const [first, ...more] = dues;
    if (first === undefined || this.#mustEnd()) return;
    const plan = planOther(this.#pace, kind, this.#deps.now());
    if (plan.kind === 'wait')
      return await this.#record(dues, { kind: 'postponed', atLeastMs: plan.ms });
    const sending = await findSending(this.#deps, this.#person, [first, ...more]);
    if (sending === undefined) await this.#drop(dues, 'There is nothing to say any more.');
    else await this.#send(dues, sending, plan.pace);
  }

  async #sendAlerts(deliveries: readonly DueDelivery[]): Promise<void> {
    const changes: AlertChange[] = [];
    for (const due of deliveries) changes.push(await this.#toChange(due));
    for (let at = 0; at < deliveries.length && !this.#mustEnd(); ) {
      const rest = deliveries.slice(at);
      const plan = planMail(this.#pace, rest.length, this.#deps.now());
      if (plan.kind === 'wait')
        return await this.#record(rest, { kind: 'postponed', atLeastMs: plan.ms });
      const isList = plan.kind === 'list' || this.#person.alerts === 'daily';
      const end = isList ? deliveries.length : at + 1;
      const sending = this.#toSending(changes.slice(at, end), plan.isLastToday);
      await this.#send(deliveries.slice(at, end), sending, plan.pace);
      at = end;
    }
  }

  async #toChange(due: DueDelivery): Promise<AlertChange> {
    const alert = parse(due);
    const { accountId } = this.#person;
    const found = { domainId: alert.domain_id, accountId };
    const domain = await findDomainName(this.#deps.store.db, found);
    const isResolved = due.type === 'mail.alert_resolved';
    return { ...alert, eventId: due.id, isResolved, domain: domain ?? 'a domain that was removed' };
  }

  /** The id of a list has its first and its last event: one with more is another mail. */
  #toSending(changes: readonly AlertChange[], isLastToday: boolean): Sending {
    const { accountName: account, personId } = this.#person;
    const frame = { baseUrl: this.#deps.baseUrl, account, isLastToday };
    const [first, last] = [changes[0], changes.at(-1)] as [AlertChange, AlertChange];
    const subscription = 'alerts';
    if (changes.length > 1) {
      const id = `${first.eventId}.${last.eventId}.${personId}`;
      return { letter: toListLetter(changes, frame), id, subscription };
    }
    const firing = `fired.${first.id}.${personId}`;
    const letter = toAlertLetter(first, frame);
    if (!first.isResolved) return { letter, id: firing, subscription };
    return { letter, id: `resolved.${first.id}.${personId}`, inReplyTo: firing, subscription };
  }

  async #send(deliveries: readonly DueDelivery[], sending: Sending, pace: Pace): Promise<void> {
    const started = performance.now();
    const outcome = await this.#try(sending);
    await this.#record(deliveries, { ...outcome, tookMs: performance.now() - started });
    // The outcome is recorded first: a process that dies before sends again.
    if (outcome.kind === 'delivered' && this.#person.refusals > 0)
      await confirmAddress(this.#deps.store.db, this.#person.personId);
    if (this.#isEnded) return;
    await updatePace(this.#deps.store.db, this.#person.personId, pace);
    this.#pace = pace;
  }

  async #try({ letter, id, inReplyTo, subscription }: Sending): Promise<DeliveryOutcome> {
    const { mailer, store, baseUrl } = this.#deps;
    const { email: to, personId, linkKey } = this.#person;
    const token = subscription && toUnsubscribeToken(subscription, personId, linkKey);
    const unsubscribe = token && `${baseUrl}/settings/unsubscribe?token=${token}`;
    const choose = { link: `${baseUrl}/settings/mail`, text: 'Choose what you get' };
    const links = unsubscribe ? [choose, { link: unsubscribe, text: 'Get no more of it' }] : [];
    const rendered = renderLetter(letter, links);
    try {
      const answer = await mailer.send({ to, id, inReplyTo, unsubscribe, ...rendered });
      return { kind: 'delivered', status: Number(answer.slice(0, 3)), answer };
    } catch (error) {
      const { responseCode: status = null, message } = error as Error & { responseCode?: number };
      const refusal = findRefusal(error);
      if (refusal === undefined) {
        this.#isEnded = true;
        return { kind: 'failed', status, answer: message };
      }
      await recordRefusal(store.db, personId, refusal);
      return { kind: 'refused', status, answer: refusal };
    }
  }
}

function findKind(due: DueDelivery): 'alerts' | 'keys' | 'links' | 'others' {
  if (due.type === 'mail.alert_fired' || due.type === 'mail.alert_resolved') return 'alerts';
  if (due.type === 'key.created') return 'keys';
  return hasLink(due) ? 'links' : 'others';
}

const parse = ({ data }: DueDelivery): Alert => JSON.parse(data);
