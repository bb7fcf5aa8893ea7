import { html } from 'hono/html';
import type { Standing } from '../../../domain/own-mail.ts';
import type { Sender, Verdict } from '../../../domain/senders/sender.ts';
import type { NamedService } from '../../../domain/senders/service-name.ts';
import type { ServiceGuide, ServiceKind } from '../../../domain/senders/services.ts';
import type { Advice } from '../../../domain/sources/advice.ts';
import { MAX_TITLE, pluralize } from '../../../domain/text.ts';
import { findGuide } from '../../../judging/known-services.ts';
import { type Html, renderText } from '../../frame/text.ts';
import { STANDINGS } from '../readiness-view.ts';
import { renderName, renderPhrase } from './source-labels.ts';

/** The look is that of whose work it is: what is the owner's to mend stands out, what is not does not. */
const VERDICTS = {
  yours: ['Yours', 'good'],
  needs_setup: ['Needs set-up', 'warn'],
  passed_on: ['Passed on', ''],
  not_recognised: ['Not recognised', ''],
  forged: ['Forged', 'theirs'],
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
  readonly standing: Standing;
  /** The days that it is judged by, where others are shown. */
  readonly period: Html | '';
}

/** Whose mail a sender's is, why, and how it is set up. */
export async function renderJudgement(
  { title, service, verdict, reason }: Sender,
  { standing, period }: JudgementNotes,
): Promise<Html> {
  const [label, meaning] = STANDINGS[standing];
  const guide =
    verdict === 'needs_setup' && service !== undefined ? await findGuide(service.name) : undefined;
  return html`<section class="card" aria-labelledby="verdict">
    <h2 id="verdict">Whose mail is it?${period}</h2>
    <p><strong>${renderText(title, MAX_TITLE)}</strong> ${service === undefined ? '' : html`<span class="muted">${renderEvidence(service)}</span>`}</p>
    <p>${renderVerdict(verdict)} ${renderPhrase(reason)}</p>
    ${guide && service ? renderGuide(service.name, guide) : ''}
    <p class="muted">On the way to p=reject it counts as <b>${label}</b>: ${meaning}.</p>
  </section>`;
}

export function renderVerdict(verdict: Verdict): Html {
  const [label, tone] = VERDICTS[verdict];
  return html`<span class="badge ${tone}">${label}</span>`;
}

/** The cells of a file: the verdict, the sender, and what says who it is. */
export function toVerdictCells({ verdict, title, service }: Sender) {
  const evidence = service && `${EVIDENCE[service.by]}${service.domain}`;
  return [VERDICTS[verdict][0], title, evidence ?? null] as const;
}

export function renderEvidence({ kind, by, domain }: NamedService): Html {
  return html`${KINDS[kind]} · ${EVIDENCE[by]}${renderName(domain)}`;
}

function renderGuide(name: string, { term, text, url }: ServiceGuide): Html {
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
export function renderAdvice(advice: readonly Advice[], period: Html | ''): Html | '' {
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
  </section>`;
}
