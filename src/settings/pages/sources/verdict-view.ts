import { html } from 'hono/html';
import type { NamedService } from '../../../domain/sources/service-name.ts';
import type { ServiceKind } from '../../../domain/sources/services.ts';
import type { Judgement, Verdict } from '../../../domain/sources/verdict.ts';
import { type Html, renderText } from '../../frame/text.ts';
import { MAX_TITLE, renderName, renderPhrase } from './source-labels.ts';

const VERDICTS = {
  yours: ['Yours', 'good'],
  service: ['A service of yours to set up', 'warn'],
  forwarder: ['Forwarder', ''],
  forger: ['Forger', 'warn'],
  unclear: ['Not enough to say', ''],
} as const satisfies Record<Verdict, readonly [string, string]>;

const KINDS = {
  transactional: 'transactional mail',
  marketing: 'marketing mail',
  mailbox: 'mailbox provider',
  software: 'business software',
  security: 'mail security',
  forwarder: 'forwarder',
  hosting: 'hosting',
} as const satisfies Record<ServiceKind, string>;

const EVIDENCE = {
  dkim: 'signed by ',
  spf: 'SPF passed for ',
  dns: 'its name in DNS is of ',
} as const satisfies Record<NamedService['by'], string>;

export function renderJudgement(
  { verdict, reason }: Judgement,
  service: NamedService | undefined,
): Html {
  const [label, tone] = VERDICTS[verdict];
  return html`<section class="card" aria-labelledby="verdict">
    <h2 id="verdict">Whose mail is it?</h2>
    ${service === undefined ? '' : html`<p>${renderService(service)}</p>`}
    <p><span class="badge ${tone}">${label}</span> ${renderPhrase(reason)}</p>
  </section>`;
}

function renderService(service: NamedService): Html {
  return html`<strong>${renderText(service.name, MAX_TITLE)}</strong> <span class="muted">${KINDS[service.kind]} · ${EVIDENCE[service.by]}${renderName(service.domain)}</span>`;
}
