import { html } from 'hono/html';
import type { Standing } from '../../../domain/readiness.ts';
import type { Advice } from '../../../domain/sources/advice.ts';
import type { SourceGroup } from '../../../domain/sources/groups.ts';
import type { NamedService } from '../../../domain/sources/service-name.ts';
import type { ServiceGuide, ServiceKind } from '../../../domain/sources/services.ts';
import type { Judgement, Verdict } from '../../../domain/sources/verdict.ts';
import { pluralize } from '../../../domain/text.ts';
import { type Html, renderText } from '../../frame/text.ts';
import { STANDINGS } from '../readiness-view.ts';
import { MAX_TITLE, renderName, renderPhrase } from './source-labels.ts';

const VERDICTS = {
  yours: ['Yours', 'good'],
  service: ['A service to set up', 'warn'],
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

interface JudgementNotes {
  readonly service: NamedService | undefined;
  readonly standing: Standing;
  /** The days that it is judged by, where others are shown. */
  readonly period: Html | '';
}

export function renderJudgement(
  { verdict, reason }: Judgement,
  { service, standing, period }: JudgementNotes,
): Html {
  const [label, meaning] = STANDINGS[standing];
  return html`<section class="card" aria-labelledby="verdict">
    <h2 id="verdict">Whose mail is it?${period}</h2>
    ${service === undefined ? '' : html`<p><strong>${renderText(service.name, MAX_TITLE)}</strong> <span class="muted">${renderEvidence(service)}</span></p>`}
    <p>${renderVerdict(verdict)} ${renderPhrase(reason)}</p>
    <p class="muted">On the way to p=reject it counts as <b>${label}</b>: ${meaning}.</p>
  </section>`;
}

export function renderVerdict(verdict: Verdict): Html {
  const [label, tone] = VERDICTS[verdict];
  return html`<span class="badge ${tone}">${label}</span>`;
}

/** The cells of a file: the verdict on a group, and what says who it is. */
export function toVerdictCells({ verdict, service }: Pick<SourceGroup, 'verdict' | 'service'>) {
  const evidence = service && `${EVIDENCE[service.by]}${service.domain}`;
  return [verdict === undefined ? null : VERDICTS[verdict][0], evidence ?? null] as const;
}

export function renderEvidence({ kind, by, domain }: NamedService): Html {
  return html`${KINDS[kind]} · ${EVIDENCE[by]}${renderName(domain)}`;
}

export function renderGuide(name: string, { term, text, url }: ServiceGuide): Html {
  return html`<p>At ${name} this is called <strong>${term}</strong>. ${text}
    <a href="${url}">Read ${name}’s own guide</a></p>`;
}

const TONES = {
  act: ['Fails', 'warn'],
  leave: ['Nothing to do', ''],
  improve: ['Passes', ''],
  good: ['Passes', 'good'],
} as const satisfies Record<Advice['tone'], readonly [string, string]>;

/** The period is said where it is not the one that is shown. */
export function renderAdvice(
  advice: readonly Advice[],
  { period, guide }: { readonly period: Html | ''; readonly guide: Html | undefined },
): Html | '' {
  if (advice.length === 0) return '';
  return html`<section class="card" aria-labelledby="advice">
    <h2 id="advice">What to do${period}</h2>
    <ul class="findings advice">${advice.map(({ tone, title, text, messages }) => {
      const [label, style] = TONES[tone];
      return html`<li>
        <span class="badge ${style}">${label}</span>
        <div><strong>${title}</strong> <span class="muted">${pluralize(messages, 'message')}</span><p>${renderPhrase(text)}</p></div>
      </li>`;
    })}</ul>
    ${guide ?? ''}
  </section>`;
}
