import { hash } from 'node:crypto';
import { loadOwnerDomains } from '../domain/dns/organizational-domain.ts';
import { type Day, toDay, toInstant } from '../domain/instant.ts';
import { packLargeOriginal } from '../domain/reports/original.ts';
import { NOTHING, Refusal, toEnd } from '../domain/reports/refusal.ts';
import { isTls, type Report } from '../domain/reports/report.ts';
import {
  findReporter,
  findTlsReporter,
  listClaimed,
  listNamed,
  type Signed,
} from '../domain/reports/reporters.ts';
import type { DocumentPlace } from '../store/documents/document-rows.ts';
import type { Db } from '../store/engine/database.ts';
import { insertReceived, type Outcome, type ReceivedDocument } from '../store/reports/receive.ts';
import type { DocumentSender } from '../store/reports/senders.ts';
import { ahead, toBatches } from './batches.ts';
import { estimateSize, type IntakeDocument, toRejected } from './intake-document.ts';
import type { Parser } from './parser/parser.ts';
import type { Verification } from './verification/claim.ts';

/** Documents that are stored together, and their estimated bytes in memory. */
const BATCH = {
  maxItems: 200,
  maxBytes: 4 * 1024 * 1024,
  estimate: ({ document }: ReadDocument) => estimateSize(document),
};

/** The bytes of one file, mail or of standard input. */
export interface Input {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The hash of the bytes, in hex, when it is known already. */
  readonly sha256?: string;
  /** A mail without any report, broken or not, is ignored: in a mailbox that people use, most have none. */
  readonly isMail?: boolean;
  /**
   * For a mail of the inbox, which is read twice at most: whether it is given up early when it is costly, or takes too long,
   * with a document that is not stored.
   */
  readonly isBrief?: boolean;
  /** Who sent a mail, and what finding that out has cost. Absent for a file: nobody sent it. */
  readonly verdict?: (Signed & Partial<Pick<Verification, 'from' | 'cost'>>) | undefined;
  /** What is known of who sent it, whatever is in it. */
  readonly sender?: DocumentSender | undefined;
  /** What is read again: the bytes are stored for this document already. */
  readonly stored?: DocumentPlace;
}

/** An input that is read later. `read` throws when the input cannot be read. */
export interface InputToRead {
  readonly name: string;
  readonly read: () => Promise<Input>;
}

export interface IngestedDocument {
  readonly input: string;
  /** Where inside the input, outermost first. */
  readonly member: readonly string[];
  /** The part of the input that has it; undefined when it is not stored. */
  readonly path: string | undefined;
  readonly outcome: Outcome | 'ignored';
  /** The report; null when there is a refusal that says why there is none. */
  readonly report: Report | null;
  readonly refusal: Refusal | null;
}

export interface IngestDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly parser: Parser;
  /** The first day of which reports are kept; undefined when they are kept for ever. */
  readonly keptFrom?: (() => Day | undefined) | undefined;
}

/**
 * Stores documents, many in one transaction, while the next inputs are read. A document is returned only after it is
 * committed. An input that cannot be read is a document with a refusal, and the next input is read.
 */
export async function* ingest(deps: IngestDeps, inputs: AsyncIterable<InputToRead>) {
  const batches = toBatches(readAll(deps, inputs), BATCH);
  for await (const batch of ahead(batches)) yield* store(deps, batch);
}

/** A document that was read. */
interface ReadDocument {
  readonly input: string;
  /** Where it came in; undefined when it is not stored: something beside a report, or an input that cannot be read. */
  readonly place: DocumentPlace | undefined;
  readonly document: IntakeDocument;
  readonly sender?: DocumentSender;
}

async function* readAll(deps: IngestDeps, inputs: AsyncIterable<InputToRead>) {
  const reading = { ...deps, firstDay: deps.keptFrom?.() };
  for await (const { name, read } of inputs) {
    const input = await read().catch((error: unknown) =>
      error instanceof Refusal ? error : new Refusal('unreadable', 'It cannot be read.'),
    );
    if (!(input instanceof Refusal)) yield* readInput(reading, input);
    else yield { input: name, place: undefined, document: toRejected(input) };
  }
}

async function* readInput(
  { now, parser, firstDay }: IngestDeps & { readonly firstDay: Day | undefined },
  input: Input,
): AsyncGenerator<ReadDocument> {
  const base = input.stored ?? toPlace(input);
  const { name, isBrief, isMail = false, sender, verdict } = input;
  const isMailed = isMail && sender === undefined;
  const isVerified = verdict && (Boolean(verdict.from) || verdict.signers.length > 0);
  const spending = { isBrief, isMailed, spent: verdict?.cost };
  const options = { ...spending, nowMs: now().getTime(), isVerified, name };
  const beside = { input: name, place: undefined };
  let reports = 0;
  for await (const parsed of parser.parse(input.bytes, options)) {
    if (verdict !== undefined && reports >= MAX_MAILED)
      return yield { ...beside, document: toRejected(toEnd(TOO_MANY, reports)) };
    reports += Number(parsed.kind === 'report');
    const document = judge(parsed, input, firstDay);
    if (!isStored(document, input)) yield { ...beside, document };
    else {
      const sender = await authenticate(input, document);
      yield { input: name, ...(await locate(input, base, document)), sender };
    }
  }
}

/** The reports of one mail, which anybody can send. A reporter sends one or a few. */
const MAX_MAILED = 1_000;
const TOO_MANY = new Refusal('too_large', `A mail may have ${MAX_MAILED} reports.`);

/** A mail without a report is ignored. A report that went by age does not come back (store/reports/aging/old-reports.ts). */
function judge(
  document: IntakeDocument,
  { isMail = false }: Input,
  firstDay: Day | undefined,
): IntakeDocument {
  if (isMail && document.kind === 'rejected' && NOTHING.has(document.refusal.reason))
    return { ...document, kind: 'ignored' };
  if (document.kind !== 'report' || firstDay === undefined) return document;
  const { report, ...place } = document;
  const day = toDay(toInstant(new Date(report.metadata.begin * 1000)));
  if (day >= firstDay) return document;
  const message = `Its window begins on ${day}. Reports of days before ${firstDay} are not taken in.`;
  return { ...place, kind: 'rejected', refusal: new Refusal('too_old', message) };
}

async function authenticate(
  { verdict, sender }: Input,
  document: KeptDocument,
): Promise<DocumentSender> {
  if (sender !== undefined) return sender;
  if (verdict === undefined) return { authenticated: null };
  if (document.kind !== 'report') return { authenticated: '' };
  const { from = '' } = verdict;
  const toOwnerDomain = await loadOwnerDomains();
  const { metadata } = document.report;
  const authenticated = isTls(document.report)
    ? findTlsReporter({ ...verdict, from }, metadata, toOwnerDomain)
    : from && findReporter(from, metadata, toOwnerDomain);
  if (!authenticated) return { authenticated: '', claimed: listClaimed(metadata, toOwnerDomain) };
  return { authenticated, claimed: listNamed(metadata, toOwnerDomain) };
}

/** What is beside a report is not stored, nor that an input was not read that is read again. */
function isStored(document: IntakeDocument, { isBrief }: Input): document is KeptDocument {
  if (document.kind !== 'rejected') return document.kind === 'report';
  const { reason } = document.refusal;
  return reason === 'unreadable' ? isBrief === false : !(isBrief && reason === 'too_costly');
}

/** The place of an input that is its own only document. */
function toPlace({ name, bytes, sha256 }: Input): DocumentPlace {
  const input = { name, sha256: sha256 ?? hash('sha256', bytes, 'hex'), size: bytes.length };
  return { input, path: '', member: [] };
}

type KeptDocument = Exclude<IntakeDocument, { kind: 'ignored' }>;

/** Where a document is stored, and the document with its original. */
async function locate(input: Input, base: DocumentPlace, document: KeptDocument) {
  const { path, original = await packWhole(input, document) } = document;
  const kept = { ...document, original };
  if (path === '') {
    const member = base.path === '' ? document.member : base.member;
    return { place: { ...base, member }, document: kept };
  }
  const place = {
    input: base.input,
    path: base.path === '' ? path : `${base.path}.${path}`,
    member: [...base.member, ...document.member],
  };
  return { place, document: kept };
}

/** Of a larger mail nothing is kept when it has no report. */
const MAX_REJECTED_BYTES = 1024 * 1024;

/** null when it is stored already, or too large, or stays in the inbox, because another parser may find a report in it. */
async function packWhole({ bytes, stored, isMail = false }: Input, document: KeptDocument) {
  const reason = document.kind === 'rejected' ? document.refusal.reason : undefined;
  const isLeft = reason === 'none_found' || (reason && bytes.length > MAX_REJECTED_BYTES);
  return stored || (isMail && isLeft) ? null : await packLargeOriginal(bytes);
}

async function* store(
  { db, now }: IngestDeps,
  batch: readonly ReadDocument[],
): AsyncGenerator<IngestedDocument> {
  const received = batch.map(toReceived);
  const stored = received.filter((document) => document !== undefined);
  const outcomes = (await insertReceived(db, stored, toInstant(now()))).values();
  for (const [i, document] of batch.entries())
    yield toIngested(document, received[i] && (outcomes.next().value as Outcome));
}

function toReceived({ place, document, sender }: ReadDocument): ReceivedDocument | undefined {
  if (place === undefined || document.kind === 'ignored') return undefined;
  const content = document.kind === 'report' ? document.report : document.refusal;
  return { ...place, original: document.original ?? null, content, ...sender };
}

function toIngested(
  { input, place, document }: ReadDocument,
  outcome: Outcome | undefined,
): IngestedDocument {
  const isReport = document.kind === 'report';
  return {
    input,
    member: place?.member ?? document.member,
    path: place?.path,
    outcome: outcome ?? (document.kind === 'ignored' ? 'ignored' : 'rejected'),
    report: isReport ? document.report : null,
    refusal: isReport ? null : document.refusal,
  };
}
