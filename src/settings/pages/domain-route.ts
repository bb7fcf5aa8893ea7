import { html } from 'hono/html';
import type { KnownRecord } from '../../domain/dns/held-policy.ts';
import { isOfSameOwner } from '../../domain/dns/organizational-domain.ts';
import { listRecordsToPublish, toProposedRecord } from '../../domain/dns/records-to-publish.ts';
import { toHost } from '../../domain/dns/report-addresses.ts';
import type { RouteFinding } from '../../domain/dns/report-route.ts';
import { isAnyAnswered } from '../../domain/dns/sender-records.ts';
import { toInstant } from '../../domain/instant.ts';
import { isAnswered } from '../../domain/tls/tls-check.ts';
import { listSenderNames } from '../../judging/sender-names.ts';
import { listReportAddresses } from '../../store/accounts/mail-address.ts';
import { updateSenderRecords, updateTlsCheck } from '../../store/alerts/daily-checks.ts';
import { findRouteCheck, updateRouteCheck } from '../../store/alerts/dns-records.ts';
import type { DomainRow } from '../../store/domains/domains.ts';
import { findDomain } from '../../store/domains/overview.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { renderAction } from '../frame/forms.ts';
import { type Html, renderTime } from '../frame/text.ts';
import { domainScopeOf, redirectWithNotice, type Visitor } from '../visitor.ts';

/** Asks DNS and the host of a policy file, for twenty seconds at most, and stores what it says for the domain's page. */
export const checkRoute: PageHandler = async (deps, req, res) => {
  const { db, reader } = deps.store;
  const scope = domainScopeOf(req, res);
  const { id, name: domain } = await findDomain(reader, scope);
  const path = `/settings/domains/${id}`;
  const addresses = await listReportAddresses(db, scope.accountId, deps);
  if (addresses.length === 0) return res.redirect(303, path);
  const names = await listSenderNames(deps.store, { domainId: id, name: domain, now: deps.now() });
  const [findings, tls, senders] = await Promise.all([
    deps.checkRoute({ domain, addresses, mailHost: deps.mailHost }),
    deps.checkTls(domain, addresses),
    deps.lookUpSenderRecords(names),
  ]);
  const at = toInstant(deps.now());
  await updateRouteCheck(db, id, { checkedAt: at, findings });
  const asked = { domainId: id, at, isAsked: true };
  if (isAnswered(tls)) await updateTlsCheck(db, { ...asked, found: tls });
  if (isAnyAnswered(senders)) await updateSenderRecords(db, { ...asked, found: senders });
  const isRight = findings.every(({ ok }) => ok);
  const notice = isRight ? 'DNS is right.' : 'Something in DNS is not right.';
  await redirectWithNotice(deps, res, { path, notice });
};

/** Never waits for DNS. Nothing is shown without an address for reports: then an operator takes them in. */
export async function renderRoute(
  deps: SettingsDeps,
  { id, name: domain, last_report_at }: DomainRow,
  { visitor, dns }: { visitor: Visitor; dns: KnownRecord | undefined },
): Promise<Html | ''> {
  const { store, mailHost } = deps;
  const [address] = await listReportAddresses(store.db, visitor.accountId, deps);
  if (address === undefined) return '';
  const isOtherOwner = !(await isOfSameOwner(toHost(address), domain));
  const records = listRecordsToPublish({ domain, address, isOtherOwner, mailHost });
  const now = deps.now();
  return html`<section class="card" aria-labelledby="route">
    <h2 id="route">Do reports come in?</h2>
    <p>${
      last_report_at === null
        ? 'No report has come in for this domain yet.'
        : html`The last report came in ${renderTime(last_report_at, now)}.`
    } They come when DNS has these records:</p>
    <ul class="findings">${records.map(
      ({ check, type, name, value }) => html`<li><div>
      <strong>${PURPOSES[check]}</strong>
      <p>${type} record <code>${name}</code> with <code>${value}</code></p>
    </div></li>`,
    )}</ul>
    ${dns?.value === null && dns.inherited === undefined ? html`<p class="muted">The domain has no DMARC record, and needs a whole one: <code>${toProposedRecord(null, address)}</code></p>` : ''}
    ${renderCheck(await findRouteCheck(store.db, id), now)}
    ${renderAction(visitor, { path: `/settings/domains/${id}/check`, text: 'Check DNS now', look: 'secondary' })}
  </section>`;
}

const PURPOSES = {
  rua: 'In the domain’s DMARC record, the address for reports',
  authorisation: 'That this address takes reports about the domain, which its operator publishes',
  mx: 'Where mail to this address goes, which its operator publishes',
} as const;

function renderCheck(check: Awaited<ReturnType<typeof findRouteCheck>>, now: Date): Html {
  if (check === undefined) return html`<p>Nobody has asked yet whether reports can come.</p>`;
  return html`<h3>What DNS said ${renderTime(check.checkedAt, now)}</h3>
    <ul class="findings">${check.findings.map(renderFinding)}</ul>`;
}

export function renderFinding({ ok, text }: Pick<RouteFinding, 'ok' | 'text'>): Html {
  return html`<li>
    <span class="badge ${ok ? 'good' : 'warn'}">${ok ? 'Right' : 'Wrong'}</span>
    <div>${text}</div>
  </li>`;
}
