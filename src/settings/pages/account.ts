import { html } from 'hono/html';
import { findMailToken } from '../../store/accounts/mail-address.ts';
import { findDeletionRequest } from '../../store/leaving/deletion-request.ts';
import { listPeople, type Person } from '../../store/people/people.ts';
import type { PageHandler } from '../deps.ts';
import { sendPage } from '../frame/page.ts';
import { type Html, renderText, renderTime } from '../frame/text.ts';
import { visitorOf } from '../visitor.ts';
import { renderData } from './account-data.ts';
import { renderUploadForm } from './upload.ts';

const PLANS = { pro: 'Pro', free: 'Free' } as const;

export const showAccount: PageHandler = async (deps, _req, res) => {
  const { store, now, mailHost, reportAddress, uploads } = deps;
  const visitor = visitorOf(res);
  const { accountId, accountName, plan, personId, role } = visitor;
  const people = await listPeople(store.db, accountId);
  const token = mailHost === undefined ? '' : await findMailToken(store.db, accountId);
  const main = html`<p class="trail">Settings / Account</p>
    <h1>Account</h1>
    <section class="card" aria-label="Account">
      <dl>
        <dt>Name</dt><dd>${accountName}</dd>
        <dt>Plan</dt><dd><span class="badge ${plan === 'pro' ? 'good' : ''}">${PLANS[plan]}</span></dd>
        <dt>Account id</dt><dd><code>${accountId}</code></dd>
      </dl>
    </section>
    ${mailHost === undefined ? '' : renderAddress(`${token}@${mailHost}`, reportAddress)}
    ${(uploads ?? 'off') === 'off' ? '' : renderUploadForm(visitor)}
    <section class="card" aria-labelledby="people">
      <h2 id="people">People</h2>
      <ul class="people">${people.map((person) => renderPerson(person, personId, now()))}</ul>
      ${
        role === 'owner'
          ? html`<p><a href="/settings/people">Invite, disable and sign out people</a></p>`
          : html`<p class="muted">Owners of the account add people.</p>`
      }
      <p class="muted">The operator of this Plumbline changes the plan.</p>
    </section>
    ${role === 'owner' ? renderData(visitor, await findDeletionRequest(store.db, accountId), now()) : ''}`;
  await sendPage(res, { title: 'Account', current: 'account', main });
};

/** `common` takes the reports of all domains, when there is such an address: then the pages of domains name it. */
function renderAddress(address: string, common: string | undefined): Html {
  const whose =
    common === undefined ? 'your domains’ DMARC records' : 'a domain that you do not have yet';
  return html`<section class="card" aria-labelledby="address">
    <h2 id="address">Address for reports</h2>
    <p><code>${address}</code></p>
    <p class="muted">Name it in the <code>rua</code> tag of ${whose}:
      <code>rua=mailto:${address}</code>. With its first report, a domain whose record names it is proposed on the
      <a href="/settings/overview">overview</a>; one of the organisation of a domain that you have becomes yours at
      once.</p>
    ${
      common === undefined
        ? ''
        : html`<p class="muted">The pages of your domains name <code>${common}</code>, which takes the reports of all domains
      and proposes none. For a domain that you have, either address does: one is enough.</p>`
    }
  </section>`;
}

function renderPerson(person: Person, ownId: string, now: Date): Html {
  const { id, email, role, createdAt, isDisabled, isInvited } = person;
  return html`<li>
    <div>
      <strong>${renderText(email, 254)}</strong>
      <p class="muted">Added ${renderTime(createdAt, now)}</p>
    </div>
    ${id === ownId ? html`<span class="badge good">You</span>` : ''}
    ${role === 'owner' ? html`<span class="badge">Owner</span>` : ''}
    ${isDisabled ? html`<span class="badge">Disabled</span>` : ''}
    ${isInvited && !isDisabled ? html`<span class="badge">Invited</span>` : ''}
  </li>`;
}
