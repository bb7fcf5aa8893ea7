import { html, raw } from 'hono/html';
import type { Instant } from '../../domain/instant.ts';
import { pluralize } from '../../domain/text.ts';
import {
  renderAction,
  renderCopyable,
  renderField,
  renderFormToken,
  renderUsername,
} from '../frame/forms.ts';
import { type Html, renderTime } from '../frame/text.ts';
import { mustSetUp, type Visitor } from '../visitor.ts';

export const FACTOR_PATH = '/settings/second-factor';

const PASSWORD = {
  id: 'password',
  label: 'Password',
  attributes: html`type="password" required autocomplete="current-password"`,
};
const CODE_ATTRIBUTES = html`required maxlength="40" autocomplete="one-time-code" autocapitalize="none" spellcheck="false"`;

export interface FactorProblem {
  readonly field: 'password' | 'code';
  readonly message: string;
}

export function renderSecondFactor(visitor: Visitor, main: Html): Html {
  return html`<p class="trail">Settings / Account / <a href="/settings/security">Sign-in &amp; sessions</a></p>
    <h1>Second factor</h1>
    <p class="lead">A code of an app on your phone, besides your password: a stolen password alone then opens nothing.</p>
    ${
      mustSetUp(visitor)
        ? html`<p class="card calm" role="status">${visitor.accountName} requires a second factor of everybody who signs in
            with a password. Set it up to go on.</p>`
        : ''
    }
    ${main}`;
}

/** Why no second factor can be set up. */
export function renderCalm(text: string): Html {
  return html`<section class="card calm"><p>${text}</p></section>`;
}

export function renderOff(visitor: Visitor): Html {
  return html`<section class="card" aria-labelledby="off">
    <h2 id="off">Your second factor is off</h2>
    <p>You need an authenticator app: any one that makes six-digit codes (TOTP), on your phone or in your password manager.</p>
    ${renderAction(visitor, { path: `${FACTOR_PATH}/start`, text: 'Set it up' })}
  </section>`;
}

/** `uri` is the content of the QR code. */
export async function renderSetUp(
  visitor: Visitor,
  { secret, uri }: { readonly secret: string; readonly uri: string },
  problem: FactorProblem | undefined,
): Promise<Html> {
  // Groups of four are easier to type.
  const groups = secret.replace(/(.{4})(?=.)/g, '$1 ');
  const problemOf = (field: FactorProblem['field']) =>
    problem?.field === field ? problem.message : undefined;
  return html`<section class="card set-up" aria-labelledby="scan" data-secret>
    <h2 id="scan">1. Add Plumbline to your app</h2>
    <p>Scan this code with your authenticator app:</p>
    ${await renderQr(uri)}
    <label for="secret">Or type this key into it</label>
    <textarea id="secret" class="narrow" rows="2" readonly spellcheck="false">${groups}</textarea>
  </section>
  <section class="card" aria-labelledby="confirm">
    <h2 id="confirm">2. Enter your password and the code that it shows</h2>
    <form method="post" action="${FACTOR_PATH}/confirm" class="narrow" autocomplete="off">
      ${renderFormToken(visitor)}
      ${renderUsername(visitor.email)}
      ${renderField({ ...PASSWORD, problem: problemOf('password') })}
      ${renderField({
        id: 'code',
        label: 'Code',
        attributes: CODE_ATTRIBUTES,
        help: 'Six digits, new every 30 seconds.',
        problem: problemOf('code'),
      })}
      <button>Turn on</button>
    </form>
    <p class="muted">You are then signed out everywhere else, and get recovery codes.</p>
  </section>
  ${renderAction(visitor, { path: `${FACTOR_PATH}/start`, text: 'Make another code', look: 'quiet' })}`;
}

export function renderOn(
  visitor: Visitor,
  { since, recoveryCodes, now }: { since: Instant; recoveryCodes: number; now: Date },
  problem: FactorProblem | undefined,
): Html {
  return html`<section class="card" aria-labelledby="on">
    <div class="beside"><h2 id="on">Your second factor is on</h2><span class="badge good">On</span></div>
    <p>Since ${renderTime(since, now)}. Signing in with your password asks for a code of your app.</p>
    <p>${recoveryCodes < 4 ? html`<span class="badge warn">Few left</span>` : ''} ${pluralize(recoveryCodes, 'recovery code')} left,
      for when you do not have the app.</p>
  </section>
  <section class="card" aria-labelledby="change">
    <h2 id="change">Change it</h2>
    <form method="post" action="${FACTOR_PATH}/codes" class="narrow" autocomplete="off">
      ${renderFormToken(visitor)}
      ${renderUsername(visitor.email)}
      ${problem ? html`<p class="wrong" role="alert">${problem.message}</p>` : ''}
      ${renderField(PASSWORD)}
      ${renderField({ id: 'code', label: 'Code of your app, or a recovery code', attributes: CODE_ATTRIBUTES })}
      <div class="choices start">
        <button class="secondary">Make new recovery codes</button>
        <button class="danger" formaction="${FACTOR_PATH}/off">Turn off</button>
      </div>
    </form>
    <p class="muted">New phone? Turn it off, and set it up again.</p>
  </section>`;
}

/** The only page that shows recovery codes. */
export function renderNewCodes(codes: readonly string[]): Html {
  return html`<p class="trail">Settings / Account / Second factor</p>
    <h1>Your recovery codes</h1>
    <section class="card new-key" aria-labelledby="codes" data-secret>
      <h2 id="codes">Keep these ${codes.length} codes</h2>
      <p><strong>They are not shown again.</strong> Each signs you in once when you do not have your app. Print them, or keep them
        in your password manager. Codes from before do not work any more.</p>
      ${renderCopyable({ id: 'recovery', label: 'Recovery codes', text: codes.join('\n'), rows: codes.length })}
      <a href="${FACTOR_PATH}" role="button">I have kept them</a>
    </section>`;
}

/** Dark on light in every colour scheme, because readers of codes expect it so. */
async function renderQr(text: string): Promise<Html> {
  const { encode } = await import('uqr');
  // The quiet zone around the code is four modules wide (ISO/IEC 18004).
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const squares = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code for your authenticator app" shape-rendering="crispEdges">
    <path fill="white" d="M0 0h${size}v${size}h-${size}z"/><path fill="black" d="${raw(squares.join(''))}"/>
  </svg>`;
}
