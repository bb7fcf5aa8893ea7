import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Response } from 'express';
import { html, raw } from 'hono/html';
import { SANDBOX_DOMAIN_IDS } from '../../domain/sandbox.ts';
import { toSafeText } from '../../domain/text.ts';
import { renderLogo } from '../../settings/frame/logo.ts';
import { pageHeaders } from '../docs.ts';
import type { About } from './about.ts';
import { sendParts } from './texts.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../settings/frame/assets/${name}`, import.meta.url), 'utf8');
const STYLE = ['palette', 'scale', 'base', 'brand', 'code', 'home']
  .map((name) => read(`style/${name}.css`))
  .join('\n');
const ICON = `data:image/svg+xml,${encodeURIComponent(read('icon.svg'))}`;
/** Browsers allow copying only over TLS or from the local machine: the button is shown where it does something. */
const SCRIPT = `const button = document.querySelector('button');
if (button && navigator.clipboard) {
  button.hidden = false;
  button.onclick = async () => {
    await navigator.clipboard.writeText(document.querySelector('code').textContent);
    button.textContent = 'Copied';
  };
}`;

const toSource = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;
const setHeaders = pageHeaders({
  scriptSrc: [toSource(SCRIPT)],
  styleSrc: [toSource(STYLE)],
  imgSrc: ["'self'", 'data:'],
});

/** The page at `/` is one answer with its style, its script and its icon. It loads the picture, which the docs have. */
export async function sendHome(res: Response, about: About): Promise<void> {
  const { name, description, base_url, docs, contact } = about;
  const title = name === undefined ? undefined : toSafeText(name);
  await sendPage(res, about, {
    head: html`<title>${title === undefined ? 'Plumbline: DMARC monitoring' : `${title} · Plumbline`}</title>
    <meta name="description" content="${description}">
    <link rel="canonical" href="${base_url}/">
    <link rel="alternate" type="application/json" href="/">`,
    header: html`<span class="brand">${renderLogo()}Plumbline</span>`,
    main: html`<section class="first">
        <div>
          <h1>${title ?? 'Who sends mail in your domains’ names'}</h1>
          <p>This server takes in DMARC aggregate reports, watches whether the mail of each domain passes DMARC, and serves domains, reports and alerts by a read-only API.</p>
          ${renderButtons(about)}
        </div>
        ${docs && renderPicture()}
      </section>
      ${renderTrial(about)}`,
    footer: html`${docs && html`For programs: the <a href="/docs/v1.yaml">contract</a>, <a href="/llms.txt">llms.txt</a>, and for agents <code>${about.mcp}</code> · `}${contact && html`<a href="${contact}">${contact.replace(/^mailto:/, '')}</a> · `}`,
    end: html`<script>${raw(SCRIPT)}</script>`,
  });
}

/** Tells a person that there is nothing at a path. */
export async function sendMissing(res: Response, about: About, message: string): Promise<void> {
  await sendPage(res.status(404), about, {
    head: html`<title>Not found · Plumbline</title>
    <meta name="robots" content="noindex">`,
    header: html`<a class="brand" href="/">${renderLogo()}Plumbline</a>`,
    main: html`<section>
        <div>
          <h1>Not found</h1>
          <p>${message}</p>
          ${renderButtons(about)}
        </div>
      </section>`,
  });
}

type Part = 'head' | 'header' | 'main' | 'footer' | 'end';
type Html = ReturnType<typeof html>;

async function sendPage(
  res: Response,
  { version }: About,
  {
    head,
    header,
    main,
    footer,
    end,
  }: Pick<Record<Part, Html>, 'head' | 'header' | 'main'> & Partial<Record<Part, Html>>,
): Promise<void> {
  const page = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    ${head}
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" type="image/svg+xml" href="${ICON}">
    <style>${raw(STYLE)}</style>
  </head>
  <body>
    <header>${header}</header>
    <main>
      ${main}
    </main>
    <footer>${footer}Plumbline ${version}</footer>
    ${end}
  </body>
</html>
`;
  setHeaders(res.req, res, () => undefined);
  await sendParts(res.type('html'), [Buffer.from(String(page))]);
}

function renderButtons({ sign_in, docs }: About) {
  return html`<p class="buttons">${sign_in && html`<a href="/settings">Sign in</a>`}${docs && html`<a href="/docs/">Read the docs</a>`}</p>`;
}

function renderPicture() {
  return html`<picture><source srcset="/docs/overview-dark.webp" media="(prefers-color-scheme: dark)"><img src="/docs/overview-light.webp" width="1160" height="920" alt="The overview: the messages of all domains and how many passed, an open alert with its cause, and each domain with its figures, its policy and its next step."></picture>`;
}

/** A request that runs as it is, and its answer, as the docs have it. */
function renderTrial({ sandbox }: About) {
  if (sandbox === undefined) return '';
  const item = {
    id: SANDBOX_DOMAIN_IDS['example.com'],
    domain: 'example.com',
    status: 'active',
    last_report_at: '2026-03-15T04:00:00Z',
  };
  const answer = JSON.stringify({ data: [item], total: 3 }, null, 2);
  return html`<section class="trial">
        <div><h2>Try it</h2><p>The sandbox has made-up data and a public key. It needs no account.</p></div>
        <figure class="code"><figcaption>Request<button type="button" hidden>Copy</button></figcaption>
          <pre tabindex="0"><code>curl -H "Authorization: Bearer ${sandbox.key}" \\
  "${sandbox.base_url}/v1/external/domains?limit=1"</code></pre></figure>
        <figure class="code"><figcaption>Answer</figcaption><pre tabindex="0"><code>${answer}</code></pre></figure>
      </section>`;
}
