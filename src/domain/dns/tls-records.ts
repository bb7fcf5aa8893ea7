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

export type StsRecordFinding = 'missing' | 'several' | 'bad_id';

/** `old` are the texts at `_smtp-tlsrpt`, the name of drafts before the standard. */
export function checkTlsRecord(
  texts: readonly string[],
  addresses: readonly string[],
  old: readonly string[] = [],
): readonly TlsRecordFinding[] {
  const records = texts.filter((text) => /^v=TLSRPTv1\s*;/.test(text));
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
export function checkStsRecord(texts: readonly string[]): readonly StsRecordFinding[] {
  const records = texts.filter((text) => /^v=STSv1\s*;/.test(text));
  if (records.length !== 1) return [records.length === 0 ? 'missing' : 'several'];
  const [, id = ''] = listTags(records[0] ?? '').find(([name]) => name === 'id') ?? [];
  return /^[A-Za-z0-9]{1,32}$/.test(id) ? [] : ['bad_id'];
}
