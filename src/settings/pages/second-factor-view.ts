import { html } from 'hono/html';
import type { Instant } from '../../domain/instant.ts';
import { type Html, renderFormToken } from '../frame/page.ts';
import { renderTime, toCounted } from '../frame/words.ts';
import { mustSetUp, type Visitor } from '../visitor.ts';

const PATH = '/settings/second-factor';

export type FactorState =
  /** The person signs in at the OpenID provider, which asks for further factors itself. */
  | { readonly kind: 'no-password' }
  /** The installation has no key to encrypt secrets with. */
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'off' }
  | { readonly kind: 'waiting'; readonly secret: string; readonly qr: Html }
  | { readonly kind: 'on'; readonly since: Instant; readonly recoveryCodes: number };

/** The field of a form that was rejected, and what the form says. */
export interface Problem {
  readonly field: 'password' | 'code';
  readonly message: string;
}

interface FactorPage {
  readonly visitor: Visitor;
  readonly state: FactorState;
  readonly problem: Problem | undefined;
  readonly now: Date;
}

export function renderSecondFactor(page: FactorPage): Html {
  return html`<p class="trail">Settings / Account / <a href="/settings/security">Sign-in &amp; sessions</a></p>
    <h1>Second factor</h1>
    <p class="lead">A code of an app on your phone, besides your password: a stolen password alone then opens nothing.</p>
    ${
      mustSetUp(page.visitor)
        ? html`<p class="card calm" role="status">${page.visitor.accountName} requires a second factor of everybody who signs in
            with a password. Set it up to go on.</p>`
        : ''
    }
    ${renderState(page)}`;
}

function renderState(page: FactorPage): Html {
  const { state, visitor } = page;
  switch (state.kind) {
    case 'no-password':
      return renderCalm(
        'You sign in with single sign-on, and its provider asks for further factors.',
      );
    case 'unavailable':
      return renderCalm(
        'This installation has no key to encrypt secrets with. Its operator can set PLUMBLINE_SECRETS_KEY_FILE.',
      );
    case 'off':
      return renderOff(visitor);
    case 'waiting':
      return renderSetUp(page, state);
    case 'on':
      return renderOn(page, state);
  }
}

function renderCalm(text: string): Html {
  return html`<section class="card calm"><p>${text}</p></section>`;
}

function renderOff(visitor: Visitor): Html {
  return html`<section class="card" aria-labelledby="off">
    <h2 id="off">Your second factor is off</h2>
    <p>You need an authenticator app: any one that makes six-digit codes (TOTP), on your phone or in your password manager.</p>
    <form method="post" action="${PATH}/start">${renderFormToken(visitor)}<button>Set it up</button></form>
  </section>`;
}

function renderSetUp({ visitor, problem }: FactorPage, { secret, qr }: Waiting): Html {
  return html`<section class="card set-up" aria-labelledby="scan" data-secret>
    <h2 id="scan">1. Add Plumbline to your app</h2>
    <p>Scan this code with your authenticator app:</p>
    ${qr}
    <label for="secret">Or type this key into it</label>
    <textarea id="secret" class="narrow" rows="2" readonly spellcheck="false">${toGroups(secret)}</textarea>
  </section>
  <section class="card" aria-labelledby="confirm">
    <h2 id="confirm">2. Enter your password and the code that it shows</h2>
    <form method="post" action="${PATH}/confirm" class="narrow" autocomplete="off">
      ${renderFormToken(visitor)}
      <input type="text" name="username" autocomplete="username" value="${visitor.email}" hidden>
      ${renderPasswordField(problem?.field === 'password' ? problem : undefined)}
      ${renderCodeField(problem?.field === 'code' ? problem : undefined)}
      <button>Turn on</button>
    </form>
    <p class="muted">You are then signed out everywhere else, and get recovery codes.</p>
  </section>
  <form method="post" action="${PATH}/start">${renderFormToken(visitor)}<button class="quiet">Make another code</button></form>`;
}

type Waiting = Extract<FactorState, { kind: 'waiting' }>;

/** In groups of four, which are easier to type. */
function toGroups(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}

function renderPasswordField(problem: Problem | undefined): Html {
  return html`<label for="password">Password</label>
    <input id="password" name="password" type="password" required autocomplete="current-password"
      ${problem ? html`aria-invalid="true" aria-describedby="password-help" autofocus` : ''}>
    ${problem ? html`<small id="password-help" role="alert">${problem.message}</small>` : ''}`;
}

function renderCodeField(problem: Problem | undefined): Html {
  return html`<label for="code">Code</label>
    <input id="code" name="code" required maxlength="40" autocomplete="one-time-code" autocapitalize="none" spellcheck="false"
      aria-describedby="code-help" ${problem ? html`aria-invalid="true" autofocus` : ''}>
    <small id="code-help" ${problem ? html`role="alert"` : ''}>${problem?.message ?? 'Six digits, new every 30 seconds.'}</small>`;
}

function renderOn({ visitor, problem, now }: FactorPage, state: On): Html {
  const few = state.recoveryCodes < 4;
  return html`<section class="card" aria-labelledby="on">
    <div class="beside"><h2 id="on">Your second factor is on</h2><span class="badge good">On</span></div>
    <p>Since ${renderTime(state.since, now)}. Signing in with your password asks for a code of your app.</p>
    <p>${few ? html`<span class="badge warn">Few left</span>` : ''} ${toCounted(state.recoveryCodes, 'recovery code')} left,
      for when you do not have the app.</p>
  </section>
  <section class="card" aria-labelledby="change">
    <h2 id="change">Change it</h2>
    <form method="post" action="${PATH}/codes" class="narrow" autocomplete="off">
      ${renderFormToken(visitor)}
      <input type="text" name="username" autocomplete="username" value="${visitor.email}" hidden>
      ${problem ? html`<p class="wrong" role="alert">${problem.message}</p>` : ''}
      <label for="password">Password</label>
      <input id="password" name="password" type="password" required autocomplete="current-password">
      <label for="code">Code of your app, or a recovery code</label>
      <input id="code" name="code" required maxlength="40" autocomplete="one-time-code" autocapitalize="none" spellcheck="false">
      <div class="choices start">
        <button class="secondary">Make new recovery codes</button>
        <button class="danger" formaction="${PATH}/off">Turn off</button>
      </div>
    </form>
    <p class="muted">New phone? Turn it off, and set it up again.</p>
  </section>`;
}

type On = Extract<FactorState, { kind: 'on' }>;

/** The only page that shows recovery codes. */
export function renderNewCodes(codes: readonly string[]): Html {
  return html`<p class="trail">Settings / Account / Second factor</p>
    <h1>Your recovery codes</h1>
    <section class="card new-key" aria-labelledby="codes" data-secret>
      <h2 id="codes">Keep these ${codes.length} codes</h2>
      <p><strong>They are not shown again.</strong> Each signs you in once when you do not have your app. Print them, or keep them
        in your password manager. Codes from before do not work any more.</p>
      <label for="recovery">Recovery codes</label>
      <div class="copyable">
        <textarea id="recovery" rows="${codes.length}" readonly autocomplete="off" spellcheck="false">${codes.join('\n')}</textarea>
        <button type="button" class="secondary" data-copy="recovery" aria-label="Copy: Recovery codes">Copy</button>
      </div>
      <a href="${PATH}" role="button">I have kept them</a>
    </section>`;
}
