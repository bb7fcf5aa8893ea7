import { formatCount, toSafeText } from '../text.ts';
import { type KeyFinding, type KeyFound, MIN_BITS } from './dkim-key.ts';
import {
  MAX_LOOKUPS,
  type SenderName,
  type SpfFinding,
  type SpfFound,
  type ToldRecords,
  toSenderRecordName,
} from './sender-records.ts';

/* What is wrong with a record and what to do, as a sentence. Terms and names are strangers' texts. */

export function describeSpf(domain: string, { lookups, findings }: SpfFound): readonly string[] {
  const record = `The SPF record of ${domain}`;
  const texts: Record<SpfFinding['code'], (at: string) => string> = {
    missing: () =>
      `${domain} has no SPF record, so no mail passes by SPF as ${domain}. Publish one that lists who sends as it.`,
    several: (at) =>
      `${at} has several SPF records, so receivers read none (permerror). Make one of them.`,
    syntax: (at) =>
      `${record} has a term that receivers cannot read: ${at}. SPF fails as a whole (permerror). Correct it.`,
    too_many_lookups: (at) =>
      `${record} needs ${formatCount(lookups)} DNS look-ups, and receivers give up after ${MAX_LOOKUPS} (permerror): who is listed behind these does not pass. ${at} costs most. Remove who sends no more, or give a service a subdomain of its own.`,
    too_many_void_lookups: (at) =>
      `${record} names what DNS has no record of, and receivers give up after two of these (permerror): ${at}. Remove them.`,
    no_record: (at) =>
      `${record} has ${at}, where no SPF record is, so SPF fails there (permerror). Remove it, or correct the name.`,
    loop: (at) =>
      `${record} includes itself by ${at}, so receivers give up (permerror). Remove that.`,
    too_many_mx: (at) =>
      `${record} has ${at}, which stands for more than ten hosts (permerror). List addresses instead.`,
    pass_all: (at) => `${record} lets anybody pass (${at}). End it with ~all or -all.`,
    ptr: (at) =>
      `${record} has ${at}, which is slow and which some receivers ignore (RFC 7208, 5.5). List addresses instead.`,
  };
  return findings.map(({ code, at }) => texts[code](toSafeText(at)));
}

/** `who` is asked for a key. */
function describeKey(
  name: SenderName,
  { state, bits, findings }: KeyFound,
  who = 'who signs with it',
): readonly string[] {
  const at = toSenderRecordName(name);
  const ask = `ask ${who} for`;
  const texts: Record<Exclude<KeyFound['state'], 'found'> | KeyFinding, string> = {
    missing: `${at} has no key: ${ask} it, and publish it there.`,
    revoked: `${at} is revoked (its p= is empty): ${ask} the new key and its selector.`,
    invalid: '',
    several: `${at} has several keys, of which receivers may take any. Leave one.`,
    bad_version: `${at} has no key that receivers read: where there is a version, it is v=DKIM1 and comes first. Correct it.`,
    bad_type: `${at} has a key of a type that receivers do not know: ${ask} an RSA key.`,
    bad_key: `${at} has no key that receivers can read: ${ask} it, and publish all of it.`,
    short: `${at} has a key of ${formatCount(bits ?? 0)} bits, and receivers take none under ${formatCount(MIN_BITS)}: ${ask} one of 2,048.`,
    test_mode: `${at} is in test mode (t=y): receivers may treat what is signed with it as unsigned. Remove t=y.`,
    sha1_only: `${at} allows SHA-1 alone (h=), which receivers take no more. Remove h=.`,
    not_for_mail: `${at} is not for mail (s=). Remove s=.`,
  };
  const codes = state === 'found' ? findings : [state, ...findings];
  return codes.map((code) => texts[code]).filter((text) => text !== '');
}

/** What is wrong with all of them. A selector with which nothing passed may be made up. */
export function describeRecords({ spf, keys }: ToldRecords): readonly string[] {
  return [
    ...spf.flatMap((one) => (one.confirmed ? describeSpf(one.domain, one.confirmed) : [])),
    ...keys.flatMap((one) => (one.confirmed ? describeListed(one, one.confirmed) : [])),
  ];
}

export function describeListed(name: SenderName, found: KeyFound): readonly string[] {
  const isGone = found.state === 'missing' || found.state === 'revoked';
  const note = name.isProven
    ? ' If it has changed to another selector, there is nothing to do.'
    : ' Nothing signed with it passed in 30 days: if nobody of yours does, somebody made it up, and there is nothing to do.';
  return describeKey(name, found).map((text) => (isGone ? text + note : text));
}

/** Tells what is wrong with the record of a name, if that keeps mail from passing. */
export type FindFault = (
  name: { readonly domain: string | null; readonly selector: string | null },
  who?: string,
) => string | undefined;

const HARMLESS: ReadonlySet<string> = new Set([
  'test_mode',
  'several',
  'pass_all',
  'ptr',
  'missing',
]);

export function createFaults(state: ToldRecords | undefined): FindFault {
  const of = (one: { domain: string | null; selector: string | null }) =>
    JSON.stringify([one.domain, one.selector]);
  const spf = new Map(state?.spf.map((one) => [of(one), one]));
  const keys = new Map(state?.keys.map((one) => [of(one), one]));
  return (name, who) => {
    const [ofSpf, key] = [spf.get(of(name)), keys.get(of(name))];
    if (ofSpf?.confirmed) {
      const findings = ofSpf.confirmed.findings.filter(
        ({ code }) => code === 'several' || !HARMLESS.has(code),
      );
      return describeSpf(ofSpf.domain, { ...ofSpf.confirmed, findings })[0];
    }
    if (!key?.confirmed) return undefined;
    const findings = key.confirmed.findings.filter((code) => !HARMLESS.has(code));
    return describeKey(key, { ...key.confirmed, findings }, who)[0];
  };
}
