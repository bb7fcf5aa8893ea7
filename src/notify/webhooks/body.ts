import type { components } from '../../../generated/v1.d.ts';
import { describeChange } from '../../domain/alerts/alert-texts.ts';
import { formatDomainName, pluralize } from '../../domain/text.ts';
import type { Format } from '../../domain/webhooks/webhook.ts';
import { findDomainName } from '../../store/domains/domains.ts';
import type { Db } from '../../store/engine/database.ts';
import type { DueDelivery } from '../../store/notify/claims.ts';

type Event = Pick<DueDelivery, 'account_id' | 'type' | 'at' | 'data'>;

export interface BodyDeps {
  readonly db: Db;
  readonly baseUrl: string | undefined;
}

/** The body that Standard Webhooks describes. The data is JSON already, and is sent as it was stored. */
export async function renderBody(deps: BodyDeps, format: Format, event: Event): Promise<string> {
  if (format === 'slack') return await toSlackBody(deps, event);
  const { type, at, data } = event;
  return `{"type":${JSON.stringify(type)},"timestamp":"${at}","data":${data}}`;
}

/** A sentence with a link, for chats. */
async function toSlackBody({ db, baseUrl }: BodyDeps, event: Event): Promise<string> {
  if (event.type === 'webhook.test') return toText('This is a test of Plumbline’s webhook.');
  const data: Data = JSON.parse(event.data);
  const found = await findDomainName(db, { domainId: data.domain_id, accountId: event.account_id });
  const name = formatDomainName(found ?? 'a domain that was removed');
  const text = describe(event.type, data, name);
  const link =
    baseUrl === undefined || found === undefined
      ? ''
      : `\n${baseUrl}/settings/domains/${data.domain_id}`;
  return toText(`${text}${link}`);
}

type Data = components['schemas']['AlertEvent' | 'ReportEvent' | 'ChangeEvent']['data'];

function describe(type: Event['type'], data: Data, name: string): string {
  const kind = type === 'tls_report.received' ? 'new TLS report' : 'new report';
  if ('report_count' in data) return `${pluralize(data.report_count, kind)} about ${name}`;
  if ('context' in data)
    return describeChange({ ...data, isResolved: type === 'alert.resolved' }, name);
  if (type === 'report.removed') return `A report about ${name} was removed`;
  if (type === 'domain.removed') return 'A domain was removed from the account';
  return `${name} ${type === 'domain.listed' ? 'is monitored' : 'was paused'}`;
}

/** The most that a text takes: a record in DNS can be long. */
const MAX_TEXT = 3_000;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Names come from strangers: they must not call people (`<!channel>`, `@all`) or hide a link. */
function toText(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text;
  const escaped = short.replace(/[&<>]/g, (one) => ESCAPES[one] ?? one);
  return JSON.stringify({ text: escaped.replaceAll('@', '@\u200b').toWellFormed() });
}
