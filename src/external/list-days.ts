import type { components } from '../../generated/v1.d.ts';
import { addDays, type Day, toDay, toInstant } from '../domain/instant.ts';
import { LAG_DAYS } from '../domain/readiness.ts';
import { type Lately, stateInAccount, toLately } from '../store/days/believed.ts';
import { activeAt, type DailyRow, planDaily } from '../store/days/daily.ts';
import { accountVersion } from '../store/domains/worklist.ts';
import { ask, type Plan } from '../store/engine/reader.ts';
import type { Page } from '../store/lists/page.ts';
import { hashVersion } from './computed-version.ts';
import { toRange } from './day-range.ts';
import type { Computed, Handler } from './operation.ts';

/** The days of all active domains. */
export const listDays = (({ accountId, query }, { now }) =>
  toDaily(query, now(), { accountId })) satisfies Handler<'listDays'>;

export const listDomainDays = (({ accountId, path: { domain_id: domainId }, query }, { now }) =>
  toDaily(query, now(), { accountId, domainId })) satisfies Handler<'listDomainDays'>;

type DaysOwner = { readonly accountId: string; readonly domainId?: string };

/** Whose days are listed: undefined when the account has no such domain. */
function* planOwner({ accountId, domainId, ...lately }: Lately & DaysOwner) {
  if (domainId === undefined) {
    const [account] = yield* ask(accountVersion({ accountId }));
    const list = (page: Page) => ask(activeAt({ accountId, ...lately, ...page }));
    return account && { ...account, list };
  }
  const [domain] = yield* ask(stateInAccount({ accountId, domainId, ...lately }));
  if (domain === undefined) return undefined;
  const version = `${domain.version} ${domain.reporters}`;
  return { version, domains: 1, list: () => known([domain]) };
}

/** A plan that reads nothing. */
// biome-ignore lint/correctness/useYield: a plan is a generator.
function* known<T>(found: T): Plan<T> {
  return found;
}

function toDaily(
  query: Page & { readonly from?: string; readonly until?: string },
  now: Date,
  owner: DaysOwner,
): Computed<components['schemas']['DayList']> {
  const today = toDay(toInstant(now));
  const range = toRange(query, today);
  const find = () => planOwner({ ...owner, ...toLately(today) });
  const toVersion = ({ version }: { version: string }) => hashVersion([version, today, range]);
  return {
    missing: 'No such domain.',
    findVersion: async (reader) => {
      const found = await reader.readPlan(find);
      return found && toVersion(found);
    },
    read: (reader) =>
      reader.readPlan(function* () {
        const found = yield* find();
        if (found === undefined) return undefined;
        const { total, rows } = yield* planDaily({ range, page: query, ...found });
        const since = addDays(today, -LAG_DAYS);
        const data = rows.map((row) => toItem(row, since));
        return { version: toVersion(found), body: { data, total } };
      }),
  };
}

/** Days since that day still fill. */
function toItem(row: DailyRow, since: Day) {
  const { domainId, day, view, reports, messages, quarantined, rejected, otherwise, aside } = row;
  const none = Math.max(0, messages - quarantined - rejected - otherwise);
  return {
    domain_id: domainId,
    day,
    may_change: day >= since,
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
