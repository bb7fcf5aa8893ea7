import type { components } from '../../generated/v1.d.ts';
import { addDays, type Day, toDay, toInstant } from '../domain/instant.ts';
import { LAG_DAYS } from '../domain/readiness.ts';
import { toLately } from '../store/days/believed.ts';
import { activeAt, type DailyRow, planDaily } from '../store/days/daily.ts';
import { domainOfAccount } from '../store/domains/domain-of-account.ts';
import { accountVersion } from '../store/domains/work.ts';
import { ask, type Plan } from '../store/engine/reader.ts';
import type { Page } from '../store/lists/page.ts';
import { hashVersion } from './computed-version.ts';
import { toRange } from './day-range.ts';
import type { Computed, Handler } from './operation.ts';

interface Owner {
  readonly version: unknown;
  readonly domains: number;
  readonly list: Parameters<typeof planDaily>[0]['list'];
}

/** The days of all active domains. */
export const listDays = (({ accountId, query }, { now }) => {
  const lately = toLately(toDay(toInstant(now())));
  return toDaily(query, now(), {
    missing: 'No such account.',
    *find() {
      const [account] = yield* ask(accountVersion({ accountId }));
      const list = (page: Page) => ask(activeAt({ accountId, ...lately, ...page }));
      return account && { ...account, list };
    },
  });
}) satisfies Handler<'listDays'>;

export const listDomainDays = (({ accountId, path, query }, { now }) => {
  const scope = { accountId, domainId: path.domain_id };
  const asked = domainOfAccount({ ...scope, ...toLately(toDay(toInstant(now()))) });
  return toDaily(query, now(), {
    missing: 'No such domain.',
    *find() {
      const [domain] = yield* ask(asked);
      if (domain === undefined) return undefined;
      const version = [domain.version, domain.reporters];
      return { version, domains: 1, list: () => ask(asked) };
    },
  });
}) satisfies Handler<'listDomainDays'>;

function toDaily(
  query: Page & { readonly from?: string; readonly until?: string },
  now: Date,
  { missing, find }: { readonly missing: string; readonly find: () => Plan<Owner | undefined> },
): Computed<components['schemas']['DayList']> {
  const today = toDay(toInstant(now));
  const range = toRange(query, today);
  const toVersion = ({ version }: Owner) => hashVersion([version, today, range]);
  return {
    missing,
    findVersion: async (reader) => {
      const owner = await reader.readPlan(find);
      return owner && toVersion(owner);
    },
    read: (reader) =>
      reader.readPlan(function* () {
        const owner = yield* find();
        if (owner === undefined) return undefined;
        const { total, rows } = yield* planDaily({ range, page: query, ...owner });
        const data = rows.map((row) => toItem(row, today));
        return { version: toVersion(owner), body: { data, total } };
      }),
  };
}

function toItem(row: DailyRow, today: Day) {
  const { domainId, day, view, reports, messages, quarantined, rejected, otherwise, aside } = row;
  const none = Math.max(0, messages - quarantined - rejected - otherwise);
  return {
    domain_id: domainId,
    day,
    may_change: day >= addDays(today, -LAG_DAYS),
    reporters: view,
    reports,
    total_messages: messages,
    aligned_messages: row.aligned,
    dkim_aligned_messages: row.dkim_aligned,
    spf_aligned_messages: row.spf_aligned,
    dispositions: { none, quarantine: quarantined, reject: rejected, other: otherwise },
    set_aside_reports: aside.reports,
    set_aside_messages: aside.messages,
  };
}
