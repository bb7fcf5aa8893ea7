import { Refusal, toEnd } from '../../domain/reports/refusal.ts';
import { type Budget, REPORT_ROW_BYTES } from '../budget.ts';
import { type Content, collect, peek, skip, toContent } from '../content.ts';
import { decodeUnicode } from '../document/xml-text.ts';
import type { IntakeDocument, Kept } from '../intake-document.ts';
import { MAX_CONTAINER_DEPTH, MAX_INNER_CONTAINER_BYTES, MAX_INPUT_BYTES } from '../limits.ts';
import { readFeedback } from '../report/feedback.ts';
import { WarningLog } from '../warnings.ts';
import { type ContentFinding, isReportName, REFUSALS, settle, toFinding } from './finding.ts';
import { gunzip, unzlib } from './gzip.ts';
import { splitMailbox } from './mailbox.ts';
import type { Inherited, Member } from './member.ts';
import { Part } from './part.ts';
import { readSigned } from './smime.ts';
import { findReport, sniff } from './sniff.ts';
import { readTar } from './tar.ts';
import { decodeBody } from './transfer-encoding.ts';

/** Yields at least one document, in order. Never throws because of the bytes' content, and one bad document never stops the rest. */
export async function* readDocuments(
  bytes: Uint8Array,
  options: Pick<Context, 'nowMs' | 'budget' | 'isVerified'>,
): AsyncGenerator<IntakeDocument> {
  const input = { ...options, member: [], depth: 0, isQuiet: false, log: new WarningLog() };
  let reports = 0;
  for await (const finding of open(toContent(bytes), input)) {
    if (finding.kind === 'report') reports += 1;
    if (finding.kind === 'nothing')
      yield { kind: 'rejected', member: finding.member, path: '', refusal: finding.refusal };
    else if (finding.kind === 'rejected' && options.budget.isSpent)
      yield { ...finding, refusal: toEnd(finding.refusal, reports) };
    else yield finding;
  }
}

interface Context extends Inherited {
  readonly nowMs: number;
  /** A mail of which it is known who sent it (verification/check.ts), read as that found it: from its first byte to its last. */
  readonly isVerified?: boolean | undefined;
  readonly member: readonly string[];
  readonly depth: number;
  /** Part of a mail's own text or layout. */
  readonly isQuiet: boolean;
  readonly charset?: string | undefined;
  /** In a mail that is the whole input. */
  readonly isMailed?: boolean | undefined;
  /** The subject of the innermost mail says that it is a report. */
  readonly isExpected?: boolean | undefined;
  /** The innermost part that is being read; undefined for the whole input. */
  readonly part?: Part | undefined;
}

async function* open(content: Content, context: Context): AsyncGenerator<ContentFinding> {
  let head: Uint8Array = new Uint8Array();
  try {
    const { whole, close, ...peeked } = await peek(content);
    head = peeked.head;
    try {
      yield* read(whole, head, context);
    } finally {
      await close();
    }
  } catch (error) {
    const refusal = toRefusal(error);
    const isNothing = refusal.reason === 'too_large' && isOfPeople(head, context);
    const { message, where } = refusal;
    yield keepRefusal(isNothing ? new Refusal('no_report', message, where) : refusal, context);
  }
}

/** Whether nothing says that there is a report: people send large archives and texts, too. */
function isOfPeople(head: Uint8Array, { isMailed, isExpected, member, budget }: Context): boolean {
  if (!isMailed || isExpected || isEvident(head, member)) return false;
  // What is behind the report that was found may be one, and is not read.
  return !(budget.isSpent && budget.kept > 0);
}

/** Any other error is a defect, or a lack of memory. It affects this member only. */
function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal('reader_failed', 'The reader failed because of an error of its own.');
}

/** More is not kept of a part that has no report: it would be in the memory of the process that stores, too. */
const MAX_REJECTED_BYTES = 1024 * 1024;

/**
 * A rejection is stored, so its size is spent from the budget, as for a report. When the budget is spent, the rest of
 * the input is not read, so the whole input is kept.
 */
function keepRefusal(refusal: Refusal, context: Context): ContentFinding {
  const finding = toFinding(refusal, context);
  if (finding.kind !== 'rejected' || context.budget.isSpent) return finding;
  try {
    context.budget.keep(REPORT_ROW_BYTES + context.member.join().length);
  } catch (error) {
    return toFinding(toRefusal(error), context);
  }
  return { ...finding, ...toKept(context, MAX_REJECTED_BYTES) };
}

function toKept({ part, budget }: Context, maxBytes = Number.POSITIVE_INFINITY): Kept {
  if (part === undefined) return { path: '' };
  return { path: part.path, original: part.pack(budget, maxBytes) };
}

const VERIFIED = { kind: 'mail', start: 0 } as const;

async function* read(
  content: Content,
  head: Uint8Array,
  context: Context,
): AsyncGenerator<ContentFinding> {
  const { kind, start } = context.isVerified ? VERIFIED : sniff(head);
  const holdArchive = async () => {
    if (start > 0) context.log.add('bytes_around_archive');
    return (await hold(content, context)).subarray(start);
  };
  const { budget } = context;
  switch (kind) {
    case 'xml':
      return yield await toReport(content, { head, start: 0 }, context);
    case 'gzip':
      return yield* open(gunzip(await holdArchive(), context), deeper(context));
    case 'zlib':
      return yield* open(unzlib(await hold(content, context), context), deeper(context));
    case 'zip':
      return yield* openZip(await holdArchive(), context);
    case 'tar':
      return yield* openAll(readTar(await hold(content, context), budget), deeper(context));
    case 'base64':
    case 'uuencode':
      return yield* open(decodeBody(await hold(content, context), kind, budget), deeper(context));
    case 'signed':
      return yield* openSigned(await hold(content, context), context);
    case 'mail':
      return yield* openMail(await hold(content, context), context);
    default: {
      const at = kind === 'other' && context.isQuiet ? findReport(head) : undefined;
      if (at === undefined) throw REFUSALS[kind];
      context.log.add('text_before_report');
      return yield await toReport(content, { head, start: at }, context);
    }
  }
}

/** What people send may be XML as well, but has none of these elements, escaped or not. */
const EVIDENCE = /(?:<|&lt;)\/?(?:[\w.-]+:)?feedback(?![\w.:-])|report_metadata/;

const isEvident = (head: Uint8Array, member: readonly string[]): boolean =>
  member.some(isReportName) || EVIDENCE.test(decodeUnicode(head));

/** Of a larger container with a smaller report, the report alone is kept: a gzip may have megabytes around it. */
const MAX_AROUND_BYTES = 64 * 1024;

async function toReport(
  content: Content,
  { head, start }: { readonly head: Uint8Array; readonly start: number },
  context: Context,
): Promise<ContentFinding> {
  const { member, isQuiet, isExpected } = context;
  const around = context.part?.size ?? context.budget.inputBytes;
  const isLoose = context.depth > 0 && around > MAX_AROUND_BYTES;
  const part = isLoose ? new Part(context.part?.path ?? '', around - 1) : context.part;
  try {
    const report = await readFeedback(skip(part?.watch(content) ?? content, start), context);
    const isInside = part !== undefined && part.size > 0;
    return { kind: 'report', member, report, ...toKept(isInside ? { ...context, part } : context) };
  } catch (error) {
    await part?.readOn();
    // A person's text may quote a piece of a report.
    if (!isBroken(error) || (start === 0 && isEvident(head, member))) throw error;
    const refusal = REFUSALS.broken;
    return { kind: 'nothing', member, refusal, isQuiet, isExpected, broken: error };
  }
}

const isBroken = (error: unknown): error is Refusal =>
  error instanceof Refusal && ['bad_xml', 'doctype_forbidden'].includes(error.reason);

async function hold(content: Content, { depth, part }: Context): Promise<Uint8Array> {
  if (depth >= MAX_CONTAINER_DEPTH) {
    await part?.readOn(content);
    throw new Refusal('too_deep', `There are more than ${depth} nested containers.`);
  }
  const bytes = await collect(content, depth === 0 ? MAX_INPUT_BYTES : MAX_INNER_CONTAINER_BYTES);
  part?.hold(bytes);
  return bytes;
}

const deeper = (context: Context): Context => ({ ...context, depth: context.depth + 1 });

async function* openZip(bytes: Uint8Array, context: Context): AsyncGenerator<ContentFinding> {
  // Libraries are loaded when the first archive or mail comes: they take a quarter of the reader's start.
  const { readZip } = await import('./zip.ts');
  yield* openAll(readZip(bytes, context), deeper(context));
}

/** A signature does not count as a container, so there is one at most: a mail in it has the depth of a mail. */
async function* openSigned(bytes: Uint8Array, context: Context): AsyncGenerator<ContentFinding> {
  const content = readSigned(bytes, context.budget);
  if (sniff(content).kind === 'signed')
    throw new Refusal('too_deep', 'It is signed several times.');
  yield* open(toContent(content), context);
}

/** A form with files, as a browser sends it (RFC 7578), is no container: a file in it has the depth of a file. */
const FORM = /^content-type: *multipart\/form-data;/i;
const toStart = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, 80)).toString('latin1');

/** An import costs ten microseconds and more each time. */
let mails: Promise<typeof import('./mail.ts')> | undefined;

async function* openMail(bytes: Uint8Array, context: Context): AsyncGenerator<ContentFinding> {
  const { budget, isVerified } = context;
  const [, second] = isVerified ? [] : splitMailbox(bytes, budget).take(2);
  // A mailbox does not count as a container: its messages have the depth of a single mail.
  if (second !== undefined)
    return yield* openAll(toMembers(splitMailbox(bytes, budget), budget), context);
  mails ??= import('./mail.ts');
  const { readMail } = await mails;
  const isUpload = context.part === undefined && FORM.test(toStart(bytes));
  const isMailed = !isUpload && (context.isMailed ?? context.part === undefined);
  const inside = { ...(isUpload ? context : deeper(context)), isMailed, isVerified: false };
  yield* openAll(readMail(bytes, context, isVerified), inside, true);
}

async function* toMembers(messages: Iterable<Uint8Array>, budget: Budget): AsyncGenerator<Member> {
  let index = 0;
  for (const message of messages) {
    index += 1;
    budget.addMember();
    yield { name: `message ${index}`, content: toContent(message), isQuiet: false, isPart: true };
  }
}

function openAll(
  members: AsyncIterable<Member>,
  context: Context,
  isMail = false,
): AsyncIterable<ContentFinding> {
  return settle(openEach(members, context), { ...context, isMail });
}

async function* openEach(
  members: AsyncIterable<Member>,
  context: Context,
): AsyncGenerator<ContentFinding> {
  let number = 0;
  for await (const { name, content, isPart, isQuiet, isExpected, charset } of members) {
    number += 1;
    const member = [...context.member, name];
    // The number counts all members, so that a part keeps it whatever a later version finds beside it.
    const path = context.part === undefined ? `${number}` : `${context.part.path}.${number}`;
    const part = isPart ? new Part(path) : context.part;
    const inherited = isExpected ?? context.isExpected;
    const log = new WarningLog(context.log);
    const inside = { ...context, member, isQuiet, charset, isExpected: inherited, part, log };
    yield* open(content, inside);
    if (context.budget.isSpent) return;
  }
}
