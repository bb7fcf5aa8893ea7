import { html } from 'hono/html';
import { findAlertText } from '../../domain/alerts/alert-texts.ts';
import type { AlertType } from '../../domain/alerts/registry.ts';
import { toFirstRecord } from '../../domain/dns/records-to-publish.ts';
import { addDays } from '../../domain/instant.ts';
import { type DomainFacts, type NextStep, WINDOW_DAYS } from '../../domain/next-step.ts';
import { formatCount, formatDay, formatPassRate, pluralize } from '../../domain/text.ts';
import type { Html } from '../frame/text.ts';

interface StepText {
  readonly text: string;
  /** Text to publish or to look up, verbatim. */
  readonly code?: string;
  /** What follows the path of the domain's page, and the text of the link. */
  readonly link?: readonly [path: string, text: string];
}

export interface StepDomain {
  readonly id: string;
  readonly name: string;
  /** The address for reports that the domain's record should name. */
  readonly address: string | undefined;
}

export function renderNextStep(step: NextStep, domain: StepDomain): Html {
  const { text, code, link } = describeStep(step, domain);
  return html`${text}${code === undefined ? '' : html` <code>${code}</code>`}${
    link === undefined
      ? ''
      : html` <a href="/settings/domains/${domain.id}${link[0]}">${link[1]}</a>`
  }`;
}

const GOOD = `More than 99% of your mail passed for ${WINDOW_DAYS} days`;

const SOURCES = ['/sources?failing=1', 'See who failed'] as const;

/** The link shows the alert's own day, or a month from it where the pass rate fell: who fails since. */
function toSources({
  type,
  day,
  newest,
}: Extract<NextStep, { kind: 'alert' }>): NonNullable<StepText['link']> {
  if (day === undefined) return SOURCES;
  const isSince = type === 'alert.alignment_regression' && newest !== null && newest > day;
  const last = addDays(day, WINDOW_DAYS - 1);
  const to = !isSince ? day : newest < last ? newest : last;
  const when = isSince ? `from ${formatDay(day)} on` : `on ${formatDay(day)}`;
  return [`/sources?failing=1&from=${day}&to=${to}`, `See who failed ${when}`];
}

const ROUTE = ['#route', 'What DNS needs'] as const;
/** An alert of another type is looked into where it is shown. */
const ALERT_LINKS: Partial<Record<string, NonNullable<StepText['link']>>> = {
  'alert.new_failing_source': SOURCES,
  'alert.alignment_regression': SOURCES,
  'alert.reports_missing': ROUTE,
} satisfies Partial<Record<AlertType, StepText['link']>>;

export function describeStep(step: NextStep, { name, address }: StepDomain): StepText {
  switch (step.kind) {
    case 'resume':
      return { text: 'The domain is paused: the operator of this Plumbline can resume it.' };
    case 'first_reports':
      return describeFirstReports(address, name);
    case 'publish_record':
      return describeMissingRecord(address, name);
    case 'one_record':
      return {
        text: `DNS has several DMARC records at _dmarc.${name}, which count as none: publish only one.`,
        link: ROUTE,
      };
    case 'alert':
      return describeAlert(step);
    case 'silent':
      return {
        text: `No report covers a day after ${formatDay(step.newest)}: make sure that DNS still asks for them.`,
        link: ROUTE,
      };
    case 'wait':
      return {
        text: `Wait for more reports: ${pluralize(step.dataDays, 'day')} of ${WINDOW_DAYS} have data, with ${pluralize(step.messages, 'message')}.`,
      };
    case 'failing':
      return describeFailing(step);
    case 'enforce':
      return describeIf(
        step.strangers,
        `${GOOD}: remove ${step.tags.join(' and ')} from the DMARC record, so that p=${step.policy} applies to all mail`,
      );
    case 'stronger':
      return describeStronger(step);
    case 'policy_unknown':
      return { text: `${GOOD}, but no report says which policy is published: look it up in DNS.` };
    case 'nothing':
      return { text: 'Nothing to do: mail that fails is rejected.' };
  }
}

function describeAlert(step: Extract<NextStep, { kind: 'alert' }>): StepText {
  const { type } = step;
  const link = ALERT_LINKS[type] ?? (['#alerts', 'See it'] as const);
  return { text: findAlertText(type).advice, link: link === SOURCES ? toSources(step) : link };
}

function describeFirstReports(address: string | undefined, name: string): StepText {
  if (address === undefined)
    return { text: 'No report has come in yet: ask the operator where reports are to be sent.' };
  const text = `No report has come in yet. Publish a TXT record at _dmarc.${name}:`;
  return { text, code: toFirstRecord(address), link: ROUTE };
}

function describeMissingRecord(address: string | undefined, name: string): StepText {
  const text = `DNS has no DMARC record any more. Publish one at _dmarc.${name}:`;
  return { text, code: address === undefined ? 'v=DMARC1; p=none' : toFirstRecord(address) };
}

const SINCE = {
  first_report: 'from the first report on',
  before: `in the ${WINDOW_DAYS} days before, too`,
} as const;

function describeFailing({ counts, since }: Extract<NextStep, { kind: 'failing' }>): StepText {
  const failed = formatCount(counts.messages - counts.aligned);
  const why = since === undefined ? '' : ` It was so ${SINCE[since]}, and alerts tell of changes.`;
  return {
    text: `${failed} of ${pluralize(counts.messages, 'message')} that may be yours failed in ${WINDOW_DAYS} days (${formatPassRate(counts)} passed): find out who sent them.${why}`,
    link: SOURCES,
  };
}

function describeStronger(step: Extract<NextStep, { kind: 'stronger' }>): StepText {
  const { tag, from, to, strangers } = step;
  const now = from === null ? 'the value of sp is not valid' : `${tag}=${from}`;
  if (tag === 'sp')
    return { text: `Subdomains are not protected (${now}): publish sp=${to}, or no sp at all.` };
  const change =
    from === null
      ? `the DMARC record has no valid p tag, which counts as p=none. Publish p=${to} in it, directly after v=DMARC1`
      : `change p=${from} in the DMARC record to p=${to}`;
  return describeIf(strangers, `${GOOD}: ${change}`);
}

/** What strangers send is stopped as well: the owner looks at it before. */
function describeIf(strangers: DomainFacts['strangers'], text: string): StepText {
  if (strangers === undefined) return { text: `${text}.` };
  const whose = `${pluralize(strangers.messages, 'message')} from ${pluralize(strangers.sources, 'source')}`;
  return {
    text: `${text}, if ${whose} that failed are not yours.`,
    link: ['/sources?failing=1&standing=stranger', 'Look at them'],
  };
}
