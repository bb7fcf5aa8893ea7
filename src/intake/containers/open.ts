import { Refusal } from '../../domain/reports/refusal.ts';
import type { Budget } from '../budget.ts';
import { type Content, collect, peek, toContent } from '../content.ts';
import {
  MAX_CONTAINER_DEPTH,
  MAX_INNER_CONTAINER_BYTES,
  MAX_INPUT_BYTES,
  REPORT_ROW_BYTES,
} from '../limits.ts';
import { readFeedback } from '../report/feedback.ts';
import { type RequestedReport, readRequested } from '../report/requested.ts';
import { WarningLog } from '../warnings.ts';
import { type Finding, settle, toFinding } from './finding.ts';
import { gunzip, unzlib } from './gzip.ts';
import { splitMailbox } from './mailbox.ts';
import type { Member } from './member.ts';
import { type Kind, sniff } from './sniff.ts';

/** The state of the reading: member names, depth, warnings and budget. */
export interface Spot {
  readonly member: readonly string[];
  readonly depth: number;
  readonly isQuiet: boolean;
  readonly log: WarningLog;
  readonly budget: Budget;
  readonly now: () => number;
  /** The only report that is wanted. */
  readonly wanted?: RequestedReport | undefined;
}

/** Whatever the content is: each report in it, each refusal, and each item that is not a report. */
export async function* open(content: Content, spot: Spot): AsyncGenerator<Finding> {
  try {
    yield* look(content, spot);
  } catch (error) {
    yield keepRefusal(toRefusal(error), spot);
  }
}

/** Any other error is a defect, or a lack of memory. It affects this member only. */
function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal('reader_failed', 'The reader failed because of an error of its own.');
}

/** A rejection is stored, so its size is spent from the budget, as for a report. */
function keepRefusal(refusal: Refusal, spot: Spot): Finding {
  const finding = toFinding(refusal, spot);
  if (finding.kind !== 'rejected' || spot.budget.isSpent) return finding;
  try {
    spot.budget.keep(REPORT_ROW_BYTES + spot.member.join().length);
  } catch (error) {
    return toFinding(toRefusal(error), spot);
  }
  return finding;
}

async function* look(content: Content, spot: Spot): AsyncGenerator<Finding> {
  const { head, whole, close } = await peek(content);
  try {
    yield* read(whole, { kind: sniff(head), spot });
  } finally {
    await close();
  }
}

async function* read(
  content: Content,
  { kind, spot }: { kind: Kind; spot: Spot },
): AsyncGenerator<Finding> {
  switch (kind) {
    case 'xml':
      yield { kind: 'report', member: spot.member, ...(await readReport(content, spot)) };
      return;
    case 'gzip':
      return yield* open(gunzip(await hold(content, spot), spot), deeper(spot));
    case 'zlib':
      return yield* open(unzlib(await hold(content, spot), spot), deeper(spot));
    case 'zip':
      return yield* openZip(await hold(content, spot), spot);
    case 'mail':
      return yield* openMail(await hold(content, spot), spot);
    default:
      throw REFUSALS[kind];
  }
}

async function readReport(content: Content, spot: Spot) {
  if (spot.wanted !== undefined) return await readRequested(content, spot.wanted, spot);
  return { report: await readFeedback(content, spot) };
}

/** Reads a container into one piece. */
async function hold(content: Content, { depth }: Spot): Promise<Uint8Array> {
  if (depth >= MAX_CONTAINER_DEPTH)
    throw new Refusal('too_deep', `There are more than ${depth} nested containers.`);
  return collect(content, depth === 0 ? MAX_INPUT_BYTES : MAX_INNER_CONTAINER_BYTES);
}

const deeper = (spot: Spot): Spot => ({ ...spot, depth: spot.depth + 1 });

async function* openZip(bytes: Uint8Array, spot: Spot): AsyncGenerator<Finding> {
  // Libraries are loaded when the first archive or mail comes: they take a quarter of the reader's start.
  const { readZip } = await import('./zip.ts');
  yield* openAll(readZip(bytes, spot.budget), deeper(spot));
}

async function* openMail(bytes: Uint8Array, spot: Spot): AsyncGenerator<Finding> {
  spot.budget.addMail();
  const [, second] = splitMailbox(bytes, spot.budget).take(2);
  // A mailbox does not count as a container: its messages have the depth of a single mail.
  if (second !== undefined)
    return yield* openAll(toMembers(splitMailbox(bytes, spot.budget), spot.budget), spot);
  const { readMail } = await import('./mail.ts');
  yield* openAll(readMail(bytes, spot), deeper(spot));
}

async function* toMembers(messages: Iterable<Uint8Array>, budget: Budget): AsyncGenerator<Member> {
  let index = 0;
  for (const message of messages) {
    index += 1;
    budget.addMember();
    yield { name: `message ${index}`, content: toContent(message), isQuiet: false };
  }
}

function openAll(members: AsyncIterable<Member>, container: Spot): AsyncIterable<Finding> {
  return settle(openEach(members, container), container);
}

async function* openEach(members: AsyncIterable<Member>, container: Spot): AsyncGenerator<Finding> {
  for await (const { name, content, isQuiet } of members) {
    const log = new WarningLog(container.log);
    yield* open(content, { ...container, member: [...container.member, name], isQuiet, log });
    if (container.budget.isSpent) return;
  }
}

/** Made once, because the stack of an error costs more than all other work for an empty member. */
const REFUSALS = {
  empty: new Refusal('empty', 'There is nothing in it.'),
  html: new Refusal('not_aggregate', 'The root element is <html>.'),
  failure_report: new Refusal('not_aggregate', 'failure_report: about one message (ARF).'),
  tls_report: new Refusal('not_aggregate', 'tls_report: about TLS connections (TLS-RPT).'),
  other: new Refusal('no_report', 'This is neither XML nor anything that could hold it.'),
};
