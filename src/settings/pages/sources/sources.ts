import type { Request } from 'express';
import { html } from 'hono/html';
import type { Grouping } from '../../../domain/sources/groups.ts';
import { SOURCE_COLUMNS } from '../../../domain/sources/source-order.ts';
import { findDataDays } from '../../../store/domains/domain-reports.ts';
import { findDomain } from '../../../store/domains/overview.ts';
import type { PageHandler } from '../../deps.ts';
import { renderTrail } from '../../frame/elements.ts';
import { sendPage } from '../../frame/page.ts';
import { ONE_YEAR, readRange, renderEmptyRange, renderRanges } from '../../frame/range.ts';
import { renderTabs } from '../../frame/tabs.ts';
import { formatDomainName, renderDomainName } from '../../frame/text.ts';
import { readPageNumber, readQuery, readSearch, readSort } from '../../request.ts';
import { domainScopeOf } from '../../visitor.ts';
import { STANDING_NAMES } from '../readiness-view.ts';
import { renderWords } from '../words.ts';
import { type Choice, describe, findSources } from './find-sources.ts';
import { renderFilters, toParameters } from './list-filters.ts';
import { renderNetworkCredit, toSourcePath } from './source-labels.ts';
import { renderFound } from './sources-view.ts';

export const showSources: PageHandler = async (deps, req, res) => {
  const { reader } = deps.store;
  const scope = domainScopeOf(req, res);
  const domain = await findDomain(reader, scope);
  const dataDays = await findDataDays(reader, scope);
  const range = readRange(req, dataDays, deps.now(), ONE_YEAR);
  const choice = readChoice(req);
  const found = await findSources(deps, { scope, domain, range, choice });
  const sources = await describe(deps, scope, found);
  const path = toSourcePath(domain.id);
  const view = { path, range, choice, found: { ...found, sources }, domainId: domain.id };
  const { page: _, ...parameters } = toParameters(choice);
  const main = html`${renderTrail(domain, 'Sources')}
    <h1>Sources</h1>
    <p class="lead">Who sent in the name of ${renderDomainName(domain.name)}.</p>
    ${renderTabs(domain.id, 'Sources', range)}
    <section class="card" aria-labelledby="list">
      ${renderRanges(path, range, parameters)}
      ${
        found.days > 0
          ? html`${renderFilters(view, deps)}${renderFound(view)}`
          : renderEmptyRange(path, range, parameters)
      }
    </section>
    ${renderWords()}
    ${renderNetworkCredit(deps)}`;
  await sendPage(res, {
    title: `Sources of ${formatDomainName(domain.name)}`,
    current: 'overview',
    main,
  });
};

const MARKS = ['legitimate', 'unknown', 'unmarked'] as const;
const GROUPINGS = ['service', 'network', 'organisation'] as const satisfies readonly Grouping[];
/** The key of a group may be the whole name of a domain, or of a network. */
const MAX_KEY = 253;

/** A choice that cannot be read is none. */
export function readChoice(req: Request): Choice {
  const [mark, standing, group, within] = ['mark', 'standing', 'group', 'within'].map((name) =>
    readQuery(req, name),
  );
  const grouping =
    group === 'address' ? undefined : (GROUPINGS.find((known) => known === group) ?? 'service');
  const isKey = grouping !== undefined && within !== '' && (within ?? '').length <= MAX_KEY;
  return {
    failingOnly: readQuery(req, 'failing') === '1',
    mark: MARKS.find((known) => known === mark),
    standing: STANDING_NAMES.find((known) => known === standing),
    group: grouping,
    within: isKey ? within : undefined,
    search: readSearch(req),
    sort: readSort(req, SOURCE_COLUMNS),
    page: readPageNumber(req),
  };
}
