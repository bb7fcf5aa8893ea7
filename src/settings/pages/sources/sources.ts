import type { RequestHandler } from 'express';
import { html } from 'hono/html';
import { findDomain } from '../../../store/accounts/overview.ts';
import { findDetailedDays } from '../../../store/sources/detailed-days.ts';
import { sendPage } from '../../frame/page.ts';
import { ONE_YEAR, renderEmptyRange, renderRanges, toDomainRange } from '../../frame/range.ts';
import { renderDomainName, toDomainText } from '../../frame/words.ts';
import type { Given } from '../../given.ts';
import { visitorOf } from '../../visitor.ts';
import { readChoice, toParameters } from './choice.ts';
import { renderFilters } from './filters.ts';
import { findSources } from './find-sources.ts';
import { toPath } from './source-words.ts';
import { renderFound } from './sources-view.ts';

const PER_PAGE = 50;

/** Who sent in a domain's name in the chosen range: addresses, or their networks or organisations. */
export function showSources(given: Given): RequestHandler {
  const { reader } = given.store;
  return async (req, res) => {
    const scope = {
      accountId: visitorOf(res).accountId,
      domainId: String(req.params['id']),
    };
    const domain = await findDomain(reader, scope);
    const dataDays = await findDetailedDays(reader, scope);
    const range = toDomainRange(req, dataDays, given.now(), ONE_YEAR);
    const choice = readChoice(req);
    const found = await findSources(given, { scope, range, choice, perPage: PER_PAGE });
    const path = toPath(domain.id);
    const view = { path, range, choice, found, perPage: PER_PAGE, domainId: domain.id };
    const { page: _, ...parameters } = toParameters(choice);
    const main = html`<p class="trail"><a href="/settings/overview">Overview</a> / <a href="/settings/domains/${domain.id}">${renderDomainName(domain.name)}</a> / Sources</p>
      <h1>Sources</h1>
      <p class="lead">Who sent in the name of ${renderDomainName(domain.name)}.</p>
      <section class="card" aria-labelledby="list">
        ${renderRanges(path, range, parameters)}
        ${
          found.hasReports
            ? html`${renderFilters(view, given)}${renderFound(view, dataDays)}`
            : renderEmptyRange(path, range, parameters)
        }
      </section>`;
    await sendPage(res, {
      title: `Sources of ${toDomainText(domain.name)}`,
      place: 'overview',
      main,
    });
  };
}
