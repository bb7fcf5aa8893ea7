import { html } from 'hono/html';
import { isEmail } from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { requestLink } from '../../store/people/passwords.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { renderField, renderTokenIfAny } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { addressOf, readField } from '../request.ts';

/** The page for a forgotten password. Without mail the operator makes a link. */
export const showForgotten: PageHandler = async (deps, _req, res) => {
  requireMail(deps);
  const main = html`<section class="card">
    <h1>Forgot your password?</h1>
    <form method="post" action="/settings/forgotten">
      ${renderTokenIfAny(res)}
      ${renderField({
        id: 'email',
        label: 'E-mail',
        attributes: html`type="email" required maxlength="254" autocomplete="username" autofocus`,
        help: 'You get a mail with a link with which you choose a new password.',
      })}
      <button>Send me a link</button>
    </form>
    <p class="muted"><a href="/settings/sign-in">Back to the sign-in</a></p>
  </section>`;
  await sendPage(res, { title: 'Forgot your password?', main });
};

/**
 * One answer for every address, and before the address is looked up: neither its text nor its time shows who has an
 * account.
 */
export const sendLink: PageHandler = async (deps, req, res) => {
  requireMail(deps);
  const [email, now, address] = [readField(req, 'email'), toInstant(deps.now()), addressOf(req)];
  const main = html`<section class="card">
    <h1>Look into your mailbox</h1>
    <p>If somebody with this address can sign in here, a link is on its way. It works once, within 24 hours.</p>
    <p class="muted">No mail? Look among the unwanted ones, or ask the operator of this Plumbline.</p>
  </section>`;
  await sendPage(res, { title: 'Look into your mailbox', main });
  if (!isEmail(email.trim())) return;
  await requestLink(deps.store.db, email, { now, address }).catch((error: unknown) =>
    deps.logError(error, req),
  );
};

function requireMail({ mailServer }: SettingsDeps): void {
  if (mailServer === undefined) throw new Failure('not_found', 'There is no such page.');
}
