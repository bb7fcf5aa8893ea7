import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import { ALERT_MAILS, MAX_LEFT_OUT, MAX_REFUSALS } from '../../domain/mail-choice.ts';
import {
  confirmAddress,
  deleteLeftOut,
  findPersonMail,
  insertLeftOut,
  listLeftOut,
  type PersonMail,
  updatePersonMail,
} from '../../store/people/person-mail.ts';
import type { PageHandler } from '../deps.ts';
import { renderAction, renderField, renderFormToken } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { type Html, renderDomainName, renderText } from '../frame/text.ts';
import { idOf, readField } from '../request.ts';
import { onForm, type Visitor, visitorOf } from '../visitor.ts';

const PATH = '/settings/mail';

const CHOICES: Readonly<Record<(typeof ALERT_MAILS)[number], string>> = {
  at_once: 'At once, one mail for each alert that fires or resolves',
  daily: 'Once a day, one mail in the morning',
  none: 'No mail about alerts',
};

export const showMail: PageHandler = async (deps, _req, res) => {
  const visitor = visitorOf(res);
  const { db } = deps.store;
  const mail = await findPersonMail(db, visitor.personId);
  const leftOut = await listLeftOut(db, visitor.personId);
  const main = html`<p class="trail">Settings / Account</p>
    <h1>Mail</h1>
    ${deps.mailServer === undefined ? renderNoServer() : ''}
    ${renderRefusal(mail, visitor)}
    ${renderChoice(mail, visitor)}
    ${renderLeftOut(leftOut, visitor)}`;
  await sendPage(res, { title: 'Mail', current: 'mail', main });
};

export const chooseMail = onForm(PATH, async ({ db, req, by }) => {
  const alerts = ALERT_MAILS.find((one) => one === readField(req, 'alerts'));
  if (alerts === undefined) throw new Failure('validation_error', 'This is not a choice.');
  const summary = readField(req, 'summary') === 'yes' ? 1 : 0;
  await updatePersonMail(db, by.personId, { alerts, summary });
  return 'Your choice is saved.';
});

export const leaveOut = onForm(PATH, async ({ db, req, by: { personId, accountId } }) => {
  await insertLeftOut(db, { personId, accountId, name: readField(req, 'domain') });
  return 'The domain is left out of your mail.';
});

export const takeIn = onForm(PATH, async ({ db, req, by }) => {
  await deleteLeftOut(db, by.personId, idOf(req));
  return 'You get mail about the domain again.';
});

export const confirmMail = onForm(PATH, async ({ db, by }) => {
  await confirmAddress(db, by.personId);
  return 'You get mail again.';
});

function renderNoServer(): Html {
  return html`<section class="card calm"><p>Mail is not configured here: nobody gets any. The operator of this Plumbline can name
    a mail server. You can choose now what you want to get then.</p></section>`;
}

function renderRefusal({ refusal, isStopped }: PersonMail, visitor: Visitor): Html | '' {
  if (refusal === null) return '';
  return html`<section class="card refusal" aria-labelledby="refusal">
    <h2 id="refusal">${isStopped ? 'You get no more mail' : 'A mail to you was refused'}</h2>
    <p>The mail server said of ${renderText(visitor.email, 254)}: ${renderText(refusal, 500)}</p>
    ${isStopped ? renderAction(visitor, { path: `${PATH}/confirm`, text: 'My address works again' }) : html`<p>After ${MAX_REFUSALS} refusals in a row nothing more is sent to you.</p>`}
  </section>`;
}

function renderChoice({ alerts, hasSummary }: PersonMail, visitor: Visitor): Html {
  return html`<section class="card" aria-labelledby="choice">
    <h2 id="choice">What you get</h2>
    <form method="post" action="${PATH}">
      ${renderFormToken(visitor)}
      <fieldset>
        <legend>Alerts</legend>
        ${ALERT_MAILS.map(
          (one) =>
            html`<label><input type="radio" name="alerts" value="${one}" ${one === alerts ? html`checked` : ''}> ${CHOICES[one]}</label>`,
        )}
      </fieldset>
      <fieldset>
        <legend>Summary</legend>
        <label><input type="checkbox" name="summary" value="yes" ${hasSummary ? html`checked` : ''}> On Mondays: each domain’s
          week, and what to do next</label>
      </fieldset>
      <button>Save</button>
    </form>
    <p class="muted">Mail about your own sign-in comes always.</p>
  </section>`;
}

function renderLeftOut(leftOut: Awaited<ReturnType<typeof listLeftOut>>, visitor: Visitor): Html {
  return html`<section class="card" aria-labelledby="left-out">
    <h2 id="left-out">Domains that are left out</h2>
    ${
      leftOut.length === 0
        ? html`<p>You get mail about every domain of the account.</p>`
        : html`<ul class="people">${leftOut.map(({ id, name }) => renderDomain(id, name, visitor))}</ul>`
    }
    <form method="post" action="${PATH}/left-out" class="narrow">
      ${renderFormToken(visitor)}
      ${renderField({
        id: 'domain',
        label: 'Leave out a domain',
        attributes: html`required maxlength="253" placeholder="example.com" autocapitalize="none" spellcheck="false"`,
        help: `You then get no mail about its alerts. At most ${MAX_LEFT_OUT}.`,
      })}
      <button class="secondary">Leave it out</button>
    </form>
  </section>`;
}

function renderDomain(id: string, name: string, visitor: Visitor): Html {
  const [path, text] = [`${PATH}/left-out/${id}/delete`, 'Take it in again'];
  return html`<li><div><strong>${renderDomainName(name)}</strong></div>
    ${renderAction(visitor, { path, text, look: 'secondary', label: `${text}: ${name}` })}</li>`;
}
