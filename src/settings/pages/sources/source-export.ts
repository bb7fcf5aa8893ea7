import { type SourceGroup, toNetworkTitle } from '../../../domain/sources/groups.ts';
import type { Counts, Source } from '../../../domain/sources/source.ts';
import { findDataDays } from '../../../store/domains/domain-reports.ts';
import { findDomain } from '../../../store/domains/overview.ts';
import type { PageHandler } from '../../deps.ts';
import { type Cell, sendCsv } from '../../frame/csv.ts';
import { ONE_YEAR, readRange } from '../../frame/range.ts';
import { domainScopeOf } from '../../visitor.ts';
import { describe, findSources, MAX_GROUPED } from './find-sources.ts';
import { readChoice } from './sources.ts';
import { toVerdictCells } from './verdict-view.ts';

const COUNTS = ['Messages', 'Passed', 'Failed', 'DKIM aligned', 'SPF aligned'];
const HEADS = {
  groups: ['Sender', 'Verdict', 'Known by', ...COUNTS, 'Addresses', 'First day'],
  sources: ['Address', 'Name', 'Network', 'Mark', ...COUNTS, 'First day', 'Last day'],
};

/** Names and networks are looked up for so many addresses at once. */
const ROWS_AT_ONCE = 500;

/** What the list with the same query shows, all pages of it. */
export const exportSources: PageHandler = async (deps, req, res) => {
  const { reader } = deps.store;
  const scope = domainScopeOf(req, res);
  const domain = await findDomain(reader, scope);
  const range = readRange(req, await findDataDays(reader, scope), deps.now(), ONE_YEAR);
  const choice = readChoice(req);
  const find = (page: number) =>
    findSources(deps, {
      ...{ scope, domain, range, choice: { ...choice, page } },
      perPage: MAX_GROUPED,
    });
  const { groups, total } = await find(1);
  const rows = async function* () {
    for (let page = 1; (page - 1) * MAX_GROUPED < total; page += 1) {
      const { groups = [], sources, marks } = await find(page);
      yield* groups.map(toGroupRow);
      for (let i = 0; i < sources.length; i += ROWS_AT_ONCE) {
        const some = { sources: sources.slice(i, i + ROWS_AT_ONCE), marks };
        yield* (await describe(deps, scope, some)).map(toSourceRow);
      }
    }
  };
  await sendCsv(res, {
    fileName: `${domain.name.slice(0, 100)}-sources-${range.from}-${range.to}`,
    heads: groups === undefined ? HEADS.sources : HEADS.groups,
    count: total,
    rows: rows(),
  });
};

function toGroupRow(group: SourceGroup): Cell[] {
  const { title, sources, firstDay } = group;
  return [title ?? null, ...toVerdictCells(group), ...toCountCells(group), sources, firstDay];
}

function toSourceRow(source: Source): Cell[] {
  const { address, name, network, mark, firstDay, lastDay } = source;
  const known = [name ?? null, (network && toNetworkTitle(network)) ?? null, mark ?? null];
  return [address, ...known, ...toCountCells(source), firstDay, lastDay];
}

function toCountCells({ messages, aligned, dkimAligned, spfAligned }: Counts): Cell[] {
  return [messages, aligned, messages - aligned, dkimAligned, spfAligned];
}
