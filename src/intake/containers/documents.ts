import { Refusal, toEnd } from '../../domain/reports/refusal.ts';
import { type Budget, REPORT_ROW_BYTES } from '../budget.ts';
import { type Content, collect, peek, toContent } from '../content.ts';
import type { IntakeDocument } from '../intake-document.ts';
import { MAX_CONTAINER_DEPTH, MAX_INNER_CONTAINER_BYTES, MAX_INPUT_BYTES } from '../limits.ts';
import { WarningLog } from '../warnings.ts';
import { type ContentFinding, REFUSALS, settle, toFinding } from './finding.ts';
import { type Context, isEvident, readTlsReports, readXmlReport, toKept } from './found-text.ts';
import { gunzip, unzlib } from './gzip.ts';
import { splitMailbox } from './mailbox.ts';
import type { Member } from './member.ts';
import { InputPart } from './part.ts';
import { readSigned } from './smime.ts';
import { findReportStart, sniff } from './sniff.ts';
import { readTar } from './tar.ts';
import { decodeBody } from './transfer-encoding.ts';

/** Yields at least one document, in order. Never throws because of the bytes' content, and one bad document never stops the rest. */
export async function* readDocuments(
  bytes: Uint8Array,
  options: Pick<Context, 'nowMs' | 'budget' | 'isVerified' | 'name'>,
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
function isOfPeople(head: Uint8Array, context: Context): boolean {
  const { isMailed, isExpected, budget } = context;
  if (!isMailed || isExpected || isEvident(head, context)) return false;
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
      return yield await readXmlReport(content, { head, start: 0 }, context);
    case 'json':
      return yield* readTlsReports(content, head, context);
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
      const at = kind === 'other' && context.isQuiet ? findReportStart(head) : undefined;
      if (at === undefined) throw REFUSALS[kind];
      context.log.add('text_before_report');
      return yield await readXmlReport(content, { head, start: at }, context);
    }
  }
}

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
  const around = isUpload ? context : deeper(context);
  // The name of a mail has the sender of its envelope, which anybody may be.
  const name = isVerified ? undefined : context.name;
  const inside = { ...around, name, isMailed, isVerified: false };
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
  for await (const { name, content, isPart, isQuiet, isExpected, charset, ...mail } of members) {
    number += 1;
    const member = [...context.member, name];
    // The number counts all members, so that a part keeps it whatever a later version finds beside it.
    const path = context.part === undefined ? `${number}` : `${context.part.path}.${number}`;
    const part = isPart ? new InputPart(path) : context.part;
    const inherited = isExpected ?? context.isExpected;
    const log = new WarningLog(context.log);
    const inside = {
      ...context,
      ...mail,
      member,
      isQuiet,
      charset,
      isExpected: inherited,
      part,
      log,
    };
    yield* open(content, inside);
    if (context.budget.isSpent) return;
  }
}
