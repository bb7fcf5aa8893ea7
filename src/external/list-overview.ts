import { type DayRange, toDay, toInstant } from '../domain/instant.ts';
import type { DomainChange, Window } from '../domain/what-changed.ts';
import { readChanges } from '../judging/what-changed.ts';
import { byName, byRank, findWork, type SettledItem, settleWork } from '../judging/work.ts';
import { accountVersion } from '../store/domains/worklist.ts';
import { takeFitting } from '../store/lists/page.ts';
import { hashVersion } from './computed-version.ts';
import type { Handler } from './operation.ts';
import { toPolicy, toWorkFields } from './work-fields.ts';

export const listOverview = (({ accountId, query }, given) => {
  const { order, limit, offset, what_changed: isAsked } = query;
  const { days, networks } = given;
  const now = given.now();
  const toVersion = async (version: string) => {
    const known = [await given.findKnown(), await given.findAddress(accountId)];
    return hashVersion([version, toDay(toInstant(now)), order, isAsked, known]);
  };
  return {
    missing: 'No such account.',
    findVersion: async (reader) => {
      const [account] = await reader.readFirst(accountVersion({ accountId }));
      return account && (await toVersion(account.version));
    },
    read: async (reader) => {
      const { items, range, version } = await findWork(reader, { accountId, now });
      const ordered = order === 'domain' ? items.toSorted(byName) : items;
      const page = {
        accountId,
        range,
        items: ordered.slice(offset, offset + limit),
        needsMail: true,
      };
      const deps = { reader, days, networks };
      const settled = await settleWork(deps, page);
      const changed = isAsked ? await readChanges(deps, { ...page, items: settled }) : undefined;
      const address = await given.findAddress(accountId);
      // Before it is put in order: the next page begins behind the last one of the order that pages are made by.
      const rows = settled.map((item) => {
        const windows = changed?.get(item.id)?.map(toWindow);
        const body = { ...toItem(item, range, address), ...(windows && { what_changed: windows }) };
        return { ...item, body };
      });
      const shown = takeFitting(rows, ({ body }) => Buffer.byteLength(JSON.stringify(body)));
      if (order === 'urgency') shown.sort(byRank);
      const data = shown.map(({ body }) => body);
      return { version: await toVersion(version), body: { data, total: items.length } };
    },
  };
}) satisfies Handler<'listOverview'>;

const toItem = (item: SettledItem, range: DayRange, address: string | undefined) => ({
  id: item.id,
  domain: item.name,
  status: item.facts.status,
  last_report_at: item.lastReportAt,
  policy: toPolicy(item),
  ...toWorkFields(item, range, address),
  open_alerts: item.facts.openAlerts.length,
});

function toWindow({ days, changes, strangers }: Window) {
  const count = (kind: DomainChange['kind']) => changes.filter((one) => one.kind === kind).length;
  return {
    days,
    failing_senders: count('failing_sender'),
    stopped_senders: count('stopped_sender'),
    new_senders: count('new_sender'),
    mended_senders: count('mended_sender'),
    unrecognised_senders: count('unrecognised_sender'),
    policy_changes: count('policy_change'),
    stopped_reporters: count('stopped_reporter'),
    new_reporters: count('new_reporter'),
    stranger_sources: strangers.sources,
    stranger_messages: strangers.messages,
  };
}
