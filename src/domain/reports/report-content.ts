import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { AggregateReport, PolicyPublished, ReportTally } from './aggregate-report.ts';
import type { RecordText } from './largest-records.ts';
import { type KeptRecord, type RecordValues, toKeptRecord } from './record-text.ts';

/*
 * What a report has that its row has no column for, packed into one value that is stored with the row: JSON arrays in
 * a fixed order, compressed. Pages, corrections and counts read it; the original is for downloads and better parsers.
 */

export interface ReportContent {
  readonly xmlNamespace: string | null;
  readonly version: string | null;
  readonly extraContactInfo: string | null;
  readonly generator: string | null;
  readonly errors: readonly string[];
  readonly policyPublished: PolicyPublished;
  /** The records with the most messages, in that order: see largest-records.ts. */
  readonly records: readonly KeptRecord[];
  /** What all other records add up to. */
  readonly others: Pick<ReportTally, 'recordCount' | 'totalMessages' | 'alignedMessages'>;
}

/** The form of the bytes that follow. A later form gets another number, and this one can still be read. */
const FORM = 1;
/**
 * What contents often have, the most frequent last: it saves a quarter of the bytes of ten records, and takes no time.
 * A change makes what is stored unreadable.
 */
const DICTIONARY = Buffer.from(
  '"permerror","temperror","neutral","policy","helo","sampled_out","trusted_forwarder","mailing_list","forwarded",' +
    '[["local_policy"]],"default","selector2","s2048","mail.","mx.",".net",".org","s1","k1",' +
    '"http://dmarc.org/dmarc-xml/0.1","urn:ietf:params:xml:ns:dmarc-2.0","https://",' +
    '"reject","reject",null,"r","r",100,"0","reject","quarantine","softfail",' +
    '[[null,null,null,null,[],[".com","none","none",null,"s","s",100,"1",null,null],[0,0,0]],[' +
    '[["1.0",null,null,null,[],[".com","quarantine","quarantine",null,"r","r",100,null,null,null],[0,0,0]],[' +
    '["2001:db8::1",2,"reject","fail","fail",".com",null,null,[],[],[[".com",null,"none"]]],' +
    '["203.0.113.1",1,"quarantine","pass","fail",".com","bounce.",null,[],' +
    '[[0,"selector1"],["mail.","s1","fail"]],[[0,0,"softfail"]]],' +
    '["192.0.2.1",1,"none","pass","pass",".com",null,null,[],[[0,"selector1"]],[[]]]]]',
);
/** Buffers for 2 kB, which most contents have: allocating larger ones takes longer than packing. */
const PACKING = { dictionary: DICTIONARY, windowBits: 13, memLevel: 5, chunkSize: 1024 };
/** Records have at most 4 million characters, of at most three bytes; what is beside them has a hundredth of that. */
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;

/** Packs the content of a report of which these records are kept. */
export function packContent(
  report: Pick<
    AggregateReport,
    'metadata' | 'policyPublished' | 'xmlNamespace' | 'version' | 'tally'
  >,
  kept: readonly RecordText[],
): Uint8Array {
  const { metadata, policyPublished, xmlNamespace, version, tally } = report;
  const { domain, p, sp, np, adkim, aspf, pct, fo, testing, discoveryMethod } = policyPublished;
  const sum = (counts: readonly RecordText[]) => counts.reduce((all, { count }) => all + count, 0);
  const head: HeadValues = [
    version,
    xmlNamespace,
    metadata.extraContactInfo,
    metadata.generator,
    metadata.errors,
    [domain, p, sp, np, adkim, aspf, pct, fo, testing, discoveryMethod],
    [
      tally.recordCount - kept.length,
      tally.totalMessages - sum(kept),
      tally.alignedMessages - sum(kept.filter(({ isAligned }) => isAligned)),
    ],
  ];
  const text = `[${JSON.stringify(head)},[${kept.map(({ text }) => text).join()}]]`;
  return Buffer.concat([Buffer.of(FORM), deflateRawSync(text, PACKING)]);
}

type Text = string | null;
type HeadValues = readonly [
  version: Text,
  xmlNamespace: Text,
  extraContactInfo: Text,
  generator: Text,
  errors: readonly string[],
  policy: readonly [string, Text, Text, Text, Text, Text, number | null, Text, Text, Text],
  others: readonly [recordCount: number, totalMessages: number, alignedMessages: number],
];

/** undefined when the content is damaged. */
export function findContent(bytes: Uint8Array): ReportContent | undefined {
  try {
    return unpackContent(bytes);
  } catch {
    return undefined;
  }
}

export function unpackContent(bytes: Uint8Array): ReportContent {
  if (bytes[0] !== FORM) throw new Error('The content of a report has an unknown form.');
  const options = { dictionary: DICTIONARY, chunkSize: 4096, maxOutputLength: MAX_UNPACKED_BYTES };
  const text = inflateRawSync(bytes.subarray(1), options).toString();
  const [head, records] = JSON.parse(text) as readonly [HeadValues, readonly RecordValues[]];
  const [version, xmlNamespace, extraContactInfo, generator, errors, policy, others] = head;
  const [domain, p, sp, np, adkim, aspf, pct, fo, testing, discoveryMethod] = policy;
  const [recordCount, totalMessages, alignedMessages] = others;
  return {
    version,
    xmlNamespace,
    extraContactInfo,
    generator,
    errors,
    policyPublished: { domain, p, sp, np, adkim, aspf, pct, fo, testing, discoveryMethod },
    records: records.map(toKeptRecord),
    others: { recordCount, totalMessages, alignedMessages },
  };
}
