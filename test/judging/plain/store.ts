import { UNKNOWN_RECORD } from '../../../src/domain/dns/dns-watch.ts';
import { addDays, type Day } from '../../../src/domain/instant.ts';
import { addUp } from '../../../src/domain/pass-rate.ts';
import { assess } from '../../../src/domain/readiness.ts';
import {
  addReport,
  keepLargest,
  type SourceSums,
} from '../../../src/domain/sources/day-sources.ts';
import { packSources } from '../../../src/domain/sources/stored-sources.ts';
import { settleDomain } from '../../../src/judging/work.ts';
import { updateDnsRecord } from '../../../src/store/alerts/dns-records.ts';
import { updateNames } from '../../../src/store/days/names.ts';
import type { Store } from '../../../src/store/engine/store.ts';
import { aDomain, aRecord, aSignature, NOW } from '../../support/builders.ts';
import { readsOf } from '../../support/day-sources.ts';
import { type Forgery, isBadOn, type OwnSender, type PlainDomain, sendsOn } from './model.ts';

/* What reports say of a plain domain, as the store has it, and what is answered. */

const NEWEST: Day = addDays(NOW.slice(0, 10), -1);

/** The mail of some addresses on a day. */
interface DayMail {
  readonly addresses: readonly string[];
  readonly messages: number;
  readonly results: string;
}

const ofSender = (sender: OwnSender, day: number): DayMail[] =>
  sendsOn(sender, day)
    ? [
        {
          addresses: sender.addresses,
          messages: sender.daily,
          results: isBadOn(sender, day) ? sender.bad : sender.good,
        },
      ]
    : [];

function ofForgery({ addresses, daily, results, days = [999, 1] }: Forgery, day: number) {
  const isOn = day <= days[0] && day >= days[1];
  return isOn ? [{ addresses: addresses(day), messages: daily, results }] : [];
}

function toRecords(mail: DayMail, name: string) {
  const { addresses, messages, results } = mail;
  const each = Math.floor(messages / addresses.length);
  return addresses.flatMap((sourceIp, i) => {
    const count = each + (i < messages % addresses.length ? 1 : 0);
    if (count === 0) return [];
    return [aRecord({ sourceIp, count, ...toResults(results.replaceAll('*', `${i}`), name) })];
  });
}

function toResults(text: string, name: string) {
  const toName = (of = '') => of.replace(/(^|\.)own$/, `$1${name}`);
  const words = text.split(' ').map((word) => word.split(/[=:]/));
  const [, spfResult = 'none', spfDomain] = words.find(([tag]) => tag === 'spf') ?? [];
  const signatures = words
    .filter(([tag]) => tag === 'dkim')
    .map(([, result = '', domain, selector = null]) =>
      aSignature({ result, domain: toName(domain), selector }),
    );
  const isOwn = (domain: string | null) => domain === name || !!domain?.endsWith(`.${name}`);
  const passes = signatures.some(({ domain, result }) => result === 'pass' && isOwn(domain));
  const isListed = spfResult === 'pass' && isOwn(toName(spfDomain));
  const reasons = words.some(([tag]) => tag === 'forwarded')
    ? [{ type: 'forwarded', comment: null }]
    : [];
  const toResult = (isPass: boolean): 'pass' | 'fail' => (isPass ? 'pass' : 'fail');
  return {
    ...{ headerFrom: name, spfResult, spfDomain: toName(spfDomain), signatures, reasons },
    ...{ spf: toResult(isListed), dkim: toResult(passes) },
  };
}

function toRow(domain: PlainDomain & { id: string }, day: number, isDoubtful: boolean) {
  const forged = domain.forgeries.filter((one) => (one.isDoubtful ?? false) === isDoubtful);
  const own = isDoubtful ? [] : domain.senders.flatMap((one) => ofSender(one, day));
  const mail = [...own, ...forged.flatMap((one) => ofForgery(one, day))];
  const sums: SourceSums = new Map();
  const records = mail.flatMap((one) => toRecords(one, domain.name));
  if (records.length === 0) return [];
  addReport(sums, { reporter: 'Provider', records });
  const all = [...sums.values()];
  const belief = isDoubtful ? ('other' as const) : ('established' as const);
  return [
    {
      ...{ domain_id: domain.id, day: addDays(NEWEST, 1 - day), belief, reports: 1 },
      ...{ ...addUp(all), sources: packSources(keepLargest(sums)) },
    },
  ];
}

/** Stores a domain, and gives its readiness, its next step and the senders of its obstacles. */
export async function answer(store: Store, accountId: string, domain: PlainDomain) {
  const { db, reader } = store;
  const { id } = await aDomain(db, accountId, { name: domain.name });
  const days = Array.from({ length: domain.days }, (_, i) => i + 1);
  const rows = days.flatMap((day) =>
    [false, true].flatMap((isDoubtful) => toRow({ ...domain, id }, day, isDoubtful)),
  );
  await db.write(async (tx) => {
    for (const row of rows) await tx.insertInto('domain_day').values(row).execute();
  });
  const named = [
    ...domain.senders.map(({ addresses, ptr }) => ({ addresses, ptr })),
    ...domain.forgeries.map(({ addresses, ptr }) => ({ addresses: addresses(1), ptr })),
  ];
  const expiresAt = '2099-01-01T00:00:00Z';
  const names = named.flatMap(({ addresses, ptr }) =>
    addresses.flatMap((address) =>
      ptr ? [{ address, name: ptr.replace(/\bown$/, domain.name), expiresAt }] : [],
    ),
  );
  await updateNames(db, { domainId: id, now: NOW }, names);
  await updateDnsRecord(db, {
    ...{ domainId: id, at: NOW, type: 'dmarc' },
    update: () => ({ ...UNKNOWN_RECORD, confirmed: { value: `v=DMARC1; p=${domain.policy}` } }),
  });
  const deps = { reader, days: readsOf(store) };
  const item = await settleDomain(deps, { accountId, domainId: id, now: new Date(NOW) });
  if (item === undefined) throw new Error('The domain is not there.');
  const readiness = assess(item.settled);
  return { ...readiness, step: item.step, mail: item.settled.mail };
}
