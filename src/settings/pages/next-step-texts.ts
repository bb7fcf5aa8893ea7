import { html } from 'hono/html';
import { toAlertDays } from '../../domain/alerts/alert-days.ts';
import type { AlertType } from '../../domain/alerts/registry.ts';
import type { AlertStep, NextStep } from '../../domain/next-step.ts';
import { describeStep, type StepDomain } from '../../domain/next-step-texts.ts';
import { formatDay } from '../../domain/text.ts';
import type { Html } from '../frame/text.ts';
import { toSendersQuery } from './sources/source-labels.ts';

/** What follows the path of the domain's page, and the text of the link. */
type StepLink = readonly [path: string, text: string];

export function renderNextStep(step: NextStep, domain: StepDomain): Html {
  const { text, code } = describeStep(step, domain);
  const link = findLink(step, domain);
  return html`${text}${code === undefined ? '' : html` <code>${code}</code>`}${
    link === undefined
      ? ''
      : html` <a href="/settings/domains/${domain.id}${link[0]}">${link[1]}</a>`
  }`;
}

const SOURCES = ['/sources?failing=1', 'See who failed'] as const;
const ROUTE = ['#route', 'What DNS needs'] as const;

/** Where a person acts on the step. */
function findLink(step: NextStep, { address }: StepDomain): StepLink | undefined {
  switch (step.kind) {
    case 'first_reports':
      return address === undefined ? undefined : ROUTE;
    case 'one_record':
    case 'silent':
      return ROUTE;
    case 'alert':
      return toAlertLink(step);
    case 'no_passing_mail':
      return ['#sends-no-mail', 'Say it'];
    case 'sends_after_all':
      return ['/sources', 'See who sent'];
    case 'failing': {
      if (step.sender === undefined) return SOURCES;
      return [`/sources?${toSendersQuery({ within: step.sender.key })}`, 'See them'];
    }
    case 'forwarded':
      return [`/sources?${toSendersQuery({ standing: 'forwarded' })}`, 'Look at them'];
    case 'enforce':
    case 'stronger': {
      if (step.strangers === undefined) return undefined;
      return [`/sources?${toSendersQuery({ standing: 'stranger' })}`, 'Look at them'];
    }
    default:
      return undefined;
  }
}

/** An alert of another type is looked into where it is shown. */
const ALERT_LINKS: Partial<Record<string, StepLink>> = {
  'alert.new_failing_source': SOURCES,
  'alert.alignment_regression': SOURCES,
  'alert.reports_missing': ROUTE,
} satisfies Partial<Record<AlertType, StepLink>>;

function toAlertLink(step: AlertStep): StepLink {
  const link = ALERT_LINKS[step.type] ?? (['#alerts', 'See it'] as const);
  return link === SOURCES ? toSources(step) : link;
}

/** The days of the link are those of the alert's own links. */
function toSources({ type, day, today }: AlertStep): StepLink {
  if (day === undefined) return SOURCES;
  const { from, to } = toAlertDays({ type, day, end: today });
  const when = from === to ? `on ${formatDay(day)}` : `from ${formatDay(day)} on`;
  return [`/sources?failing=1&from=${from}&to=${to}`, `See who failed ${when}`];
}
