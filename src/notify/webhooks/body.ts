import type { components } from '../../../generated/v1.d.ts';
import { findAlertText } from '../../domain/alerts/alert-texts.ts';
import { formatDomainName, pluralize } from '../../domain/text.ts';
import type { Format } from '../../domain/webhooks/webhook.ts';
import { findDomainName } from '../../store/accounts/domains.ts';
import type { Db } from '../../store/engine/database.ts';
import type { DueDelivery } from '../../store/notify/claims.ts';

type Schemas = components['schemas'];
/** What is sent of each event. A type that v1.yaml does not describe does not compile. */
interface Bodies {
  readonly 'alert.fired': Schemas['AlertEvent'];
  readonly 'alert.resolved': Schemas['AlertEvent'];
  readonly 'report.received': Schemas['ReportEvent'];
  readonly 'webhook.test': Schemas['TestEvent'];
}
type BodyType = keyof Bodies;

type Event = Pick<DueDelivery, 'account_id' | 'type' | 'at' | 'data'>;

interface BodyDeps {
  readonly db: Db;
  readonly baseUrl: string | undefined;
}

/** As Standard Webhooks describes it. The data is JSON already, and is sent as it was stored. */
export async function renderBody(deps: BodyDeps, format: Format, event: Event): Promise<string> {
  if (format === 'slack') return await toSlackBody(deps, event);
  const { type, at, data } = event;
  return `{"type":${JSON.stringify(type satisfies string)},"timestamp":"${at}","data":${data}}`;
}

/** A sentence with a link, for chats. */
async function toSlackBody({ db, baseUrl }: BodyDeps, event: Event): Promise<string> {
  const data = JSON.parse(event.data);
  if (event.type === 'webhook.test') return toText('This is a test of Plumbline’s webhook.');
  const found = await findDomainName(db, { domainId: data.domain_id, accountId: event.account_id });
  const name = formatDomainName(found ?? 'a domain that was removed');
  const link = baseUrl === undefined ? '' : `\n${baseUrl}/settings/domains/${data.domain_id}`;
  return toText(`${SENTENCES[event.type as keyof typeof SENTENCES](name, data)}${link}`);
}

type DataOf<Type extends BodyType> = Bodies[Type]['data'];

const SENTENCES = {
  'alert.fired': (name: string, { type, context }: DataOf<'alert.fired'>) => {
    const { title, describe } = findAlertText(type);
    return `${title} on ${name}: ${describe(context)}`;
  },
  'alert.resolved': (name: string, { type }: DataOf<'alert.resolved'>) =>
    `Resolved: ${findAlertText(type).title} on ${name}`,
  'report.received': (name: string, { report_count }: DataOf<'report.received'>) =>
    `${pluralize(report_count, 'new report')} about ${name}`,
};

/** The most that a text takes: a record in DNS can be long. */
const MAX_TEXT = 3_000;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Names come from strangers: they must not call people (`<!channel>`, `@all`) or hide a link. */
function toText(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text;
  const escaped = short.replace(/[&<>]/g, (one) => ESCAPES[one] ?? one);
  return JSON.stringify({ text: escaped.replaceAll('@', '@\u200b').toWellFormed() });
}
