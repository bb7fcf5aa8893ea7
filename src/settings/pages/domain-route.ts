import type { RequestHandler } from 'express';
import { html } from 'hono/html';
import { isOfSameOwner } from '../../domain/dns/organizational-domain.ts';
import {
  listRecordsToPublish,
  type RecordToPublish,
  toFirstRecord,
} from '../../domain/dns/records-to-publish.ts';
import { toHost } from '../../domain/dns/report-addresses.ts';
import type { Finding } from '../../domain/dns/report-route.ts';
import { toInstant } from '../../domain/instant.ts';
import type { DomainRow } from '../../store/accounts/domains.ts';
import { listReportAddresses } from '../../store/accounts/mail-address.ts';
import { findDomain } from '../../store/accounts/overview.ts';
import {
  findRouteCheck,
  type RouteCheck,
  updateRouteCheck,
} from '../../store/alerts/route-checks.ts';
import { type Html, renderFormToken } from '../frame/page.ts';
import { renderTime } from '../frame/words.ts';
import type { Given } from '../given.ts';
import { leaveNotice, type Visitor, visitorOf } from '../visitor.ts';

/** Asks DNS, for ten seconds at most, and stores what it says for the domain's page. */
export function checkRoute(given: Given): RequestHandler {
  const { db, reader } = given.store;
  return async (req, res) => {
    const { accountId } = visitorOf(res);
    const scope = { accountId, domainId: String(req.params['id']) };
    const { id, name: domain } = await findDomain(reader, scope);
    const addresses = await listReportAddresses(db, accountId, given);
    if (addresses.length > 0) {
      const findings = await given.checkRoute({ domain, addresses, mailHost: given.mailHost });
      const isRight = findings.every(({ ok }) => ok);
      await updateRouteCheck(db, id, { checkedAt: toInstant(given.now()), findings });
      await leaveNotice(given, res, isRight ? 'DNS is right.' : 'Something in DNS is not right.');
    }
    res.redirect(303, `/settings/domains/${id}`);
  };
}

/**
 * What to publish for a domain's reports to come, and what DNS said when somebody last asked. A page itself never
 * waits for DNS. Nothing when there is no address for reports: then an operator takes them in.
 */
export async function renderRoute(
  given: Given,
  { id, name: domain, last_report_at }: DomainRow,
  visitor: Visitor,
): Promise<Html | ''> {
  const { store, mailHost } = given;
  const [address] = await listReportAddresses(store.db, visitor.accountId, given);
  if (address === undefined) return '';
  const isOtherOwner = !(await isOfSameOwner(toHost(address), domain));
  const records = listRecordsToPublish({ domain, address, isOtherOwner, mailHost });
  const now = given.now();
  return html`<section class="card" aria-labelledby="route">
    <h2 id="route">Do reports come in?</h2>
    <p>${
      last_report_at === null
        ? 'No report has come in for this domain yet.'
        : html`The last report came in ${renderTime(last_report_at, now)}.`
    } They come when DNS has these records:</p>
    <ul class="findings">${records.map(renderRecord)}</ul>
    <p class="muted">A domain that has no DMARC record needs a whole one: <code>${toFirstRecord(address)}</code></p>
    ${renderCheck(await findRouteCheck(store.db, id), now)}
    <form method="post" action="/settings/domains/${id}/check">
      ${renderFormToken(visitor)}<button class="secondary">Check DNS now</button>
    </form>
  </section>`;
}

const PURPOSES = {
  rua: 'In the domain’s DMARC record, the address for reports',
  authorisation: 'That this address takes reports about the domain, which its operator publishes',
  mx: 'Where mail to this address goes, which its operator publishes',
} as const;

function renderRecord({ check, type, name, value }: RecordToPublish): Html {
  return html`<li><div>
    <strong>${PURPOSES[check]}</strong>
    <p>${type} record <code>${name}</code> with <code>${value}</code></p>
  </div></li>`;
}

function renderCheck(check: RouteCheck | undefined, now: Date): Html {
  if (check === undefined) return html`<p>Nobody has checked yet what DNS says.</p>`;
  return html`<h3>What DNS said ${renderTime(check.checkedAt, now)}</h3>
    <ul class="findings">${check.findings.map(renderFinding)}</ul>`;
}

function renderFinding({ ok, text }: Finding): Html {
  return html`<li>
    <span class="badge ${ok ? 'good' : 'warn'}">${ok ? 'Right' : 'Wrong'}</span>
    <div>${text}</div>
  </li>`;
}
