import type { Request } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import type { Subscription } from '../../domain/mail-choice.ts';
import { findSubscriber, UNSUBSCRIBED, updatePersonMail } from '../../store/people/person-mail.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { sendPage } from '../frame/page.ts';
import { renderText } from '../frame/text.ts';
import { readQuery } from '../request.ts';

/*
 * The link in each mail that a person has chosen (RFC 8058). Its token is all that is asked for: who has the mail may end
 * it. A GET ends nothing, because programs that look for malware open the links of mails.
 */

const NAMES: Readonly<Record<Subscription, string>> = {
  alerts: 'mail about alerts',
  summary: 'the weekly summary',
};

export const showUnsubscribe: PageHandler = async (deps, req, res) => {
  const { subscription, email } = await findNamed(deps, req);
  const main = html`<section class="card">
    <h1>End ${NAMES[subscription]}?</h1>
    <p>${renderText(email, 254)} then does not get it any more. Other mail stays as it is.</p>
    <form method="post" action="/settings/unsubscribe?token=${encodeURIComponent(readQuery(req, 'token'))}">
      <button>End it</button>
    </form>
  </section>`;
  await sendPage(res, { title: 'End a subscription', main });
};

/** Mailbox providers send this form as well, from no page of ours and without a cookie. */
export const unsubscribe: PageHandler = async (deps, req, res) => {
  const { email, personId, subscription } = await findNamed(deps, req);
  await updatePersonMail(deps.store.db, personId, UNSUBSCRIBED[subscription]);
  const main = html`<section class="card">
    <h1>It is ended</h1>
    <p>${renderText(email, 254)} does not get ${NAMES[subscription]} any more.</p>
    <p><a href="/settings/mail">Choose again</a></p>
  </section>`;
  await sendPage(res, { title: 'It is ended', main });
};

async function findNamed({ store: { db } }: SettingsDeps, req: Request) {
  const subscriber = await findSubscriber(db, readQuery(req, 'token'));
  if (subscriber === undefined) throw new Failure('not_found', 'This link is not whole.');
  return subscriber;
}
