import type { Request } from 'express';
import { html } from 'hono/html';
import { formatDomainName, pluralize } from '../../domain/text.ts';
import { acceptProposal, ignoreProposal, type Proposal } from '../../store/domains/proposals.ts';
import { renderTable } from '../frame/elements.ts';
import { renderAction } from '../frame/forms.ts';
import { renderDomainName, renderTime } from '../frame/text.ts';
import { onForm, type Visitor } from '../visitor.ts';

/* Domains whose DMARC records name the account's address, for an owner to decide about: the store checks the role (decision 77). */

const OVERVIEW = '/settings/overview';

/** The reports of an added domain are the account's. */
export const addProposed = onForm(OVERVIEW, async ({ db, req, by }) => {
  const { name } = await acceptProposal(db, toProposed(req, by), by);
  return `${formatDomainName(name)} is one of your domains now.`;
});

export const ignoreProposed = onForm(OVERVIEW, async ({ db, req, by }) => {
  const proposed = toProposed(req, by);
  await ignoreProposal(db, proposed, by);
  return `${formatDomainName(proposed.name)} is ignored.`;
});

function toProposed(req: Request, { accountId }: { readonly accountId: string }) {
  return { accountId, name: String(req.params['name']) };
}

const HEADS = ['Domain', 'First report', html`<span class="unseen">Change</span>`];

/** Members see what is proposed. */
export function renderProposals(proposals: readonly Proposal[], visitor: Visitor, now: Date) {
  if (proposals.length === 0) return '';
  const isOwner = visitor.role === 'owner';
  const owner = isOwner ? visitor : undefined;
  const rows = proposals.map((proposal) => renderProposal(proposal, owner, now));
  return html`<section class="card" aria-labelledby="proposals">
    <h2 id="proposals">${pluralize(proposals.length, 'domain')} to add or ignore</h2>
    <p>DMARC records ask for reports to this account’s address. Anybody can publish such a record: add the domains that are
      yours. Other names of an added domain’s organisation then become yours by themselves; of an ignored one’s,
      none is proposed again.${isOwner ? '' : ' Owners of the account decide.'}</p>
    ${renderTable('people-table cards', HEADS, rows)}
  </section>`;
}

function renderProposal({ name, proposedAt }: Proposal, owner: Visitor | undefined, now: Date) {
  const action = (visitor: Visitor, verb: 'add' | 'ignore', text: string) => {
    const path = `/settings/proposals/${encodeURIComponent(name)}/${verb}`;
    const label = `${text}: ${formatDomainName(name)}`;
    return renderAction(visitor, { path, text, look: 'quiet', label });
  };
  return html`<tr role="row">
    <th role="rowheader" scope="row">${renderDomainName(name)}</th>
    <td role="cell" data-label="First report">${renderTime(proposedAt, now)}</td>
    <td role="cell" class="actions">${
      owner && html`${action(owner, 'add', 'Add')} ${action(owner, 'ignore', 'Ignore')}`
    }</td>
  </tr>`;
}
