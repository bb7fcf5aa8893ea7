import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Response } from 'express';
import { html, raw } from 'hono/html';
import { toSafeText } from '../../domain/text.ts';
import { renderLogo } from '../../settings/frame/logo.ts';
import { pageHeaders } from '../docs.ts';
import type { About } from './about.ts';
import { sendParts } from './texts.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../settings/frame/assets/${name}`, import.meta.url), 'utf8');
const STYLE = ['palette', 'brand', 'home'].map((name) => read(`style/${name}.css`)).join('\n');
const ICON = `data:image/svg+xml,${encodeURIComponent(read('icon.svg'))}`;

const styleSrc = [`'sha256-${hash('sha256', STYLE, 'base64')}'`];
const setHeaders = pageHeaders({ styleSrc, imgSrc: ['data:'] });

/** The page at `/` is one answer, which loads nothing else: its style and its icon are in it. */
export async function sendHome(res: Response, about: About): Promise<void> {
  const { name, description, version, base_url, mcp, sign_in, docs, sandbox, contact } = about;
  const title = toSafeText(name ?? 'Plumbline');
  const trial =
    sandbox &&
    html`<h2>Try it</h2>
      <p>The sandbox has made-up data and a public key. It needs no account:</p>
      <pre><code>curl -H "Authorization: Bearer ${sandbox.key}" ${sandbox.base_url}/v1/external/domains</code></pre>`;
  const page = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${name === undefined ? 'Plumbline: DMARC monitoring' : `${title} · Plumbline`}</title>
    <meta name="description" content="${description}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="canonical" href="${base_url}/">
    <link rel="alternate" type="application/json" href="/">
    <link rel="icon" type="image/svg+xml" href="${ICON}">
    <style>${raw(STYLE)}</style>
  </head>
  <body>
    <header><span class="brand">${renderLogo()}Plumbline</span></header>
    <main>
      <h1>${title}</h1>
      <p>This server takes in DMARC aggregate reports, watches whether the mail of each domain passes DMARC, and serves domains, reports and alerts by a read-only API.</p>
      <ul>
        ${sign_in && html`<li><a href="/settings">Sign in</a> to see domains, sources and alerts, and to make API keys.</li>`}
        ${docs && html`<li><a href="/docs/">Docs</a>: getting started, reference, limits, errors. For programs: the <a href="/docs/v1.yaml">contract</a> and <a href="/llms.txt">llms.txt</a>.</li>`}
        <li>Agents find the same data at <code>${mcp}</code>, by the Model Context Protocol.</li>
      </ul>
      ${trial}
    </main>
    <footer>${contact && html`<a href="${contact}">${contact.replace(/^mailto:/, '')}</a> · `}Plumbline ${version}</footer>
  </body>
</html>
`;
  setHeaders(res.req, res, () => undefined);
  sendParts(res.type('html'), [Buffer.from(String(page))]);
}
