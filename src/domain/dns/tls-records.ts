import { listTags } from './dns-record.ts';
import { normalizeAddress } from './report-addresses.ts';

/* The TXT records of TLS reports (RFC 8460, 3) and MTA-STS (RFC 8461, 3.1). */

export type TlsRecordFinding =
  | 'missing'
  | 'old_name'
  | 'several'
  | 'bad_version'
  | 'no_rua'
  | 'bad_rua'
  | 'not_to_us';

export type StsRecordFinding = 'several' | 'bad_id' | 'id_not_changed';

const isTlsRecord = (text: string) => /^v=TLSRPTv1\s*;/.test(text);
const isStsRecord = (text: string) => /^v=STSv1\s*;/.test(text);

/** The record that senders read; null without one, and with several. */
export function findTlsRecord(texts: readonly string[]): string | null {
  return findOnly(texts.filter(isTlsRecord));
}

const findOnly = ([first, another]: readonly string[]) =>
  first === undefined || another !== undefined ? null : first;

/** `old` are the texts at `_smtp-tlsrpt`, the name of drafts before the standard. */
export function checkTlsRecord(
  texts: readonly string[],
  addresses: readonly string[],
  old: readonly string[] = [],
): readonly TlsRecordFinding[] {
  const records = texts.filter(isTlsRecord);
  if (records.length > 1) return ['several'];
  const [record] = records;
  if (record !== undefined) return checkRua(record, addresses);
  if (texts.some((text) => /^\s*v\s*=\s*tlsrpt/i.test(text))) return ['bad_version'];
  return [old.length > 0 ? 'old_name' : 'missing'];
}

function checkRua(record: string, addresses: readonly string[]): readonly TlsRecordFinding[] {
  const [, text = ''] = listTags(record).find(([name]) => name === 'rua') ?? [];
  if (text === '') return ['no_rua'];
  const uris = text.split(',');
  if (!uris.every((uri) => /^(mailto:[^@]+@[^@]+|https:\/\/.+)$/i.test(uri))) return ['bad_rua'];
  const named = uris.map((uri) => normalizeAddress(uri.replace(/^mailto:|\?.*$/gi, '')));
  const isToUs = addresses.some((address) => named.includes(normalizeAddress(address)));
  return isToUs ? [] : ['not_to_us'];
}

/** Without a record that begins so, and with several, a domain has no MTA-STS. */
export function checkStsRecord(texts: readonly string[]): readonly StsRecordFinding[] | 'missing' {
  const records = texts.filter(isStsRecord);
  if (records.length !== 1) return records.length === 0 ? 'missing' : ['several'];
  return findStsId(texts) === null ? ['bad_id'] : [];
}

/** The id of the record that senders read; null for one that is not valid. */
export function findStsId(texts: readonly string[]): string | null {
  const record = findOnly(texts.filter(isStsRecord)) ?? '';
  const [, id = ''] = listTags(record).find(([name]) => name === 'id') ?? [];
  return /^[A-Za-z0-9]{1,32}$/.test(id) ? id : null;
}
