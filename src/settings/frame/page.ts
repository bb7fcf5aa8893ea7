import type { Response } from 'express';
import { html } from 'hono/html';
import { chooseCompression, compressOnce } from '../../domain/content-coding.ts';
import { renderLostForm } from '../sign-in/lost-form.ts';
import { findVisitor, type Visitor } from '../visitor.ts';
import { assetPath } from './assets.ts';
import { renderFormToken } from './forms.ts';
import { renderLogo } from './logo.ts';
import { type Html, renderText, toSafePage } from './text.ts';

interface PageView {
  readonly title: string;
  readonly main: Html;
  readonly current?: PageName;
  /** Whether forms of the page replace a part of it with scripts. */
  readonly hasParts?: boolean;
  readonly status?: number;
}

const MENU = {
  Monitoring: {
    overview: ['/settings/overview', 'Overview'],
    alerts: ['/settings/alerts', 'Alerts'],
  },
  Integrations: {
    'api-keys': ['/settings/integrations/api-keys', 'API keys'],
    webhooks: ['/settings/integrations/webhooks', 'Webhooks'],
    docs: ['/docs/', 'API docs'],
  },
  Account: {
    account: ['/settings/account', 'Account'],
    people: ['/settings/people', 'People'],
    security: ['/settings/security', 'Sign-in & sessions'],
    mail: ['/settings/mail', 'Mail'],
    audit: ['/settings/audit', 'Audit'],
  },
} as const;

type PageName = { [G in keyof typeof MENU]: keyof (typeof MENU)[G] }[keyof typeof MENU];

/** htmx without the features that our policy forbids, and without copies of pages in the browser's storage. */
const HTMX = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  historyCacheSize: 0,
  // By default htmx copies styles from an element to the one that takes its place, which our policy refuses.
  attributesToSettle: ['class'],
  // Error answers are pages too, and are shown.
  responseHandling: [{ code: '.*', swap: true }],
});

export async function sendPage(
  res: Response,
  { title, main, current, status = 200, hasParts = false }: PageView,
): Promise<void> {
  const visitor = findVisitor(res);
  const notice = visitor?.notice ?? null;
  const notices = html`${renderLostForm(res)}${notice === null ? '' : html`<p>${notice}</p>`}`;
  const body =
    visitor === undefined ? renderBare(main) : renderFramed(visitor, { main, current, notices });
  const page = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${title} · Plumbline</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    ${hasParts ? html`<meta name="htmx-config" content="${HTMX}">` : ''}
    <link rel="icon" type="image/svg+xml" href="${assetPath('icon')}">
    <link rel="stylesheet" href="${assetPath('pico')}">
    <link rel="stylesheet" href="${assetPath('style')}">
    ${hasParts ? html`<script src="${assetPath('htmx')}" defer></script>` : ''}
    <script src="${assetPath('script')}" defer></script>
  </head>
  ${body}
</html>
`;
  res.status(status).type('html').vary('Accept-Encoding');
  const bytes = Buffer.from(toSafePage(String(page)));
  const compression = chooseCompression(res.req, bytes.length);
  if (compression === undefined) return void res.send(bytes);
  res.set('Content-Encoding', compression).send(await compressOnce(bytes, compression));
}

function renderBare(main: Html): Html {
  return html`<body class="bare">
    <header><span class="brand">${renderLogo()}Plumbline</span></header>
    <main id="main">${main}</main>
  </body>`;
}

function renderFramed(
  visitor: Visitor,
  { main, current, notices }: { main: Html; current: PageName | undefined; notices: Html },
): Html {
  return html`<body class="framed">
    <a class="skip" href="#main">Skip to content</a>
    <header>
      <a class="brand" href="/settings/overview">${renderLogo()}Plumbline</a>
      <form method="post" action="/settings/sign-out">
        ${renderFormToken(visitor)}
        <button class="quiet">Sign out</button>
      </form>
      <span class="who"><b>${renderText(visitor.accountName)}</b> <span>${visitor.email}</span></span>
    </header>
    <nav aria-label="Settings">${renderMenu(visitor, current)}</nav>
    <main id="main" tabindex="-1">${main}</main>
    <div id="notice" role="status">${notices}</div>
    <dialog id="dialog" aria-labelledby="dialog-title"></dialog>
  </body>`;
}

function renderMenu({ role }: Visitor, current: PageName | undefined): readonly Html[] {
  const renderLink = ([name, [path, text]]: [string, readonly [string, string]]) =>
    name === 'people' && role !== 'owner'
      ? ''
      : html`<li><a href="${path}" ${name === current ? html`aria-current="page"` : ''}>${text}</a></li>`;
  return Object.entries(MENU).map(
    ([group, links]) => html`<section>
    <h2>${group}</h2>
    <ul>${Object.entries(links).map(renderLink)}</ul>
  </section>`,
  );
}
