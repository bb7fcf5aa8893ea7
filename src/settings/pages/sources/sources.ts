import { html } from 'hono/html';
import { findDomain } from '../../../store/accounts/overview.ts';
import { findDetailedDays } from '../../../store/sources/detailed-days.ts';
import type { PageHandler } from '../../deps.ts';
import { sendPage } from '../../frame/page.ts';
import { ONE_YEAR, readRange, renderEmptyRange, renderRanges } from '../../frame/range.ts';
import { formatDomainName, renderDomainName } from '../../frame/text.ts';
import { idOf } from '../../request.ts';
import { visitorOf } from '../../visitor.ts';
import { readChoice, toParameters } from './choice.ts';
import { renderFilters } from './filters.ts';
import { findSources } from './find-sources.ts';
import { toSourcePath } from './source-words.ts';
import { renderFound } from './sources-view.ts';

const PER_PAGE = 50;

/** Who sent in a domain's name in the chosen range: addresses, or their networks or organisations. */
export const showSources: PageHandler = async (deps, req, res) => {
  const { reader } = deps.store;
  const scope = {
    accountId: visitorOf(res).accountId,
    domainId: idOf(req),
  };
  const domain = await findDomain(reader, scope);
  const dataDays = await findDetailedDays(reader, scope);
  const range = readRange(req, dataDays, deps.now(), ONE_YEAR);
  const choice = readChoice(req);
  const found = await findSources(deps, { scope, range, choice, perPage: PER_PAGE });
  const path = toSourcePath(domain.id);
  const view = { path, range, choice, found, perPage: PER_PAGE, domainId: domain.id };
  const { page: _, ...parameters } = toParameters(choice);
  const main = html`<p class="trail"><a href="/settings/overview">Overview</a> / <a href="/settings/domains/${domain.id}">${renderDomainName(domain.name)}</a> / Sources</p>
    <h1>Sources</h1>
    <p class="lead">Who sent in the name of ${renderDomainName(domain.name)}.</p>
    <section class="card" aria-labelledby="list">
      ${renderRanges(path, range, parameters)}
      ${
        found.hasReports
          ? html`${renderFilters(view, deps)}${renderFound(view, dataDays)}`
          : renderEmptyRange(path, range, parameters)
      }
    </section>`;
  await sendPage(res, {
    title: `Sources of ${formatDomainName(domain.name)}`,
    current: 'overview',
    main,
  });
};
