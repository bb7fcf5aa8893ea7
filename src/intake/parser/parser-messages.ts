import { Refusal } from '../../domain/reports/refusal.ts';
import type { IntakeDocument } from '../intake-document.ts';
import type { ParseOptions } from './parser.ts';

/*
 * The messages between the process that asks (parser-process.ts) and the process that parses (parser-child.ts). The
 * bytes of an input come by standard input, without a frame: sent in a message, they would be copied four times.
 * The documents come in several replies; the child sends the next one when the parent asks for it.
 */

export type Request =
  /** Parse the next so many bytes of standard input. */
  | ({ readonly kind: 'parse'; readonly size: number } & ParseOptions)
  /** The last reply has arrived: send the next one. */
  | { readonly kind: 'more' };

/** The first message of a child: it has started, and parses nothing before. */
export const READY = 'ready';

export interface Reply {
  readonly documents: readonly SentDocument[];
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
