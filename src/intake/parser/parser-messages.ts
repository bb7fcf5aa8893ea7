import { Refusal } from '../../domain/reports/refusal.ts';
import type { IntakeDocument } from '../intake-document.ts';
import type { Claim, Verification } from '../verification/claim.ts';
import type { ParseOptions } from './parser.ts';

/*
 * What is sent between the process that asks (parser-process.ts) and the process that parses (parser-child.ts).
 * Requests go to the child's standard input, which it reads synchronously: the length of the options (4 bytes), the
 * options, the input's bytes. In a message, the bytes would be copied four times. Replies are messages. After each
 * reply but the last, the child waits for one byte that asks for the next one.
 */

export type Asked = ParseOptions | { readonly claim: Claim };

export interface ParserRequest {
  /** The bytes that follow. */
  readonly size: number;
  readonly asked: Asked;
}

/** The first message of a child: it has started, and parses nothing before. */
export const READY = 'ready';

export interface ParserReply {
  readonly documents: readonly SentDocument[];
  /** The only reply to a claim. */
  readonly verdict?: Verification;
  readonly isEnd: boolean;
}

/** A refusal is sent as plain data, because an error loses its properties when it is sent. */
type SentDocument = Readonly<Record<string, unknown>>;

export function toSent(document: IntakeDocument): SentDocument {
  if (document.kind === 'report') return { ...document };
  const { reason, message, where } = document.refusal;
  return { ...document, refusal: { reason, message, where } };
}

export function toReceived(sent: SentDocument): IntakeDocument {
  const document = sent as IntakeDocument;
  if (document.kind === 'report') return document;
  const { reason, message, where } = document.refusal;
  return { ...document, refusal: new Refusal(reason, message, where) };
}
