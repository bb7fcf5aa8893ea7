import { Refusal } from '../domain/refusal.ts';
import type { Budget } from './budget.ts';
import {
  MAX_CONTAINER_DEPTH,
  MAX_INNER_CONTAINER_BYTES,
  MAX_MEMBERS,
  MAX_SOURCE_BYTES,
} from './ceilings.ts';
import { type Content, collect, peek, toContent } from './content.ts';
import { readFeedback } from './feedback.ts';
import { type Finding, settle, toFinding } from './finding.ts';
import { gunzip, unzlib } from './gzip.ts';
import { readMail } from './mail.ts';
import { splitMailbox } from './mailbox.ts';
import type { Member } from './member.ts';
import { type Kind, sniff } from './sniff.ts';
import { WarningLog } from './warnings.ts';
import { readZip } from './zip.ts';

/** Where the reading stands: under which names, how deep, with which warnings, at whose cost. */
export interface Spot {
  readonly member: readonly string[];
  readonly depth: number;
  readonly isQuiet: boolean;
  readonly log: WarningLog;
  readonly budget: Budget;
  readonly now: () => number;
}

/** Whatever the content is: each report in it, each refusal, each thing that is nothing. */
export async function* open(content: Content, spot: Spot): AsyncGenerator<Finding> {
  try {
    yield* look(content, spot);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    yield toFinding(error, spot);
  }
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
      yield { kind: 'report', member: spot.member, report: await readFeedback(content, spot) };
      return;
    case 'gzip':
      return yield* open(gunzip(await hold(content, spot), spot), deeper(spot));
    case 'zlib':
      return yield* open(unzlib(await hold(content, spot), spot), deeper(spot));
    case 'zip':
      return yield* openAll(readZip(await hold(content, spot), spot.budget), deeper(spot));
    case 'mail':
      return yield* openMail(await hold(content, spot), spot);
    default:
      throw REFUSALS[kind]();
  }
}

/** A container in one piece. */
async function hold(content: Content, { depth }: Spot): Promise<Uint8Array> {
  if (depth >= MAX_CONTAINER_DEPTH)
    throw new Refusal('too_deep', `There are more than ${depth} containers in one another.`);
  return collect(content, depth === 0 ? MAX_SOURCE_BYTES : MAX_INNER_CONTAINER_BYTES);
}

const deeper = (spot: Spot): Spot => ({ ...spot, depth: spot.depth + 1 });

function openMail(bytes: Uint8Array, spot: Spot): AsyncIterable<Finding> {
  const messages = splitMailbox(bytes);
  // A mailbox is no container of its own: its messages stand where a single mail would.
  if (messages.length > 1) return openAll(toMembers(messages), spot);
  return openAll(readMail(bytes, spot.log), deeper(spot));
}

async function* toMembers(messages: readonly Uint8Array[]): AsyncGenerator<Member> {
  for (const [index, message] of messages.entries())
    yield { name: `message ${index + 1}`, content: toContent(message), isQuiet: false };
}

function openAll(members: AsyncIterable<Member>, container: Spot): AsyncIterable<Finding> {
  return settle(openEach(members, container), container);
}

async function* openEach(members: AsyncIterable<Member>, container: Spot): AsyncGenerator<Finding> {
  let count = 0;
  for await (const { name, content, isQuiet } of members) {
    count += 1;
    if (count > MAX_MEMBERS)
      throw new Refusal('too_large', `Only the first ${MAX_MEMBERS} members were read.`);
    const log = new WarningLog(container.log);
    yield* open(content, { ...container, member: [...container.member, name], isQuiet, log });
    if (container.budget.isSpent) return;
  }
}

const REFUSALS = {
  empty: () => new Refusal('empty', 'There is nothing in it.'),
  html: () => new Refusal('not_aggregate', 'The root element is <html>.'),
  failure_report: () => new Refusal('not_aggregate', 'failure_report: about one message (ARF).'),
  tls_report: () => new Refusal('not_aggregate', 'tls_report: about TLS connections (TLS-RPT).'),
  other: () => new Refusal('no_report', 'This is neither XML nor anything that could hold it.'),
};
