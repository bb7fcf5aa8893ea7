import { Refusal } from '../../domain/reports/refusal.ts';
import type { IntakeDocument } from '../documents.ts';
import type { RequestedReport } from '../report/requested.ts';
import type { FoundDocument } from './parser.ts';

/*
 * The messages between the process that asks and the process that reads (reader-process.ts and
 * reader-child.ts). The bytes of the inputs come by standard input, without a frame: sent in a message, they
 * would be copied four times. Answers come in pieces; the child sends the next piece when the parent asks for it.
 */

export type Request =
  /** Read inputs with so many bytes. */
  | {
      readonly kind: 'read';
      readonly sizes: readonly number[];
      readonly nowMs: number;
      readonly wanted?: RequestedReport | undefined;
    }
  /** The last piece of the answer has arrived: send the next one. */
  | { readonly kind: 'more' };

/** The first message of a child: it has started, and reads nothing before. */
export const READY = 'ready';

export interface Reply {
  readonly documents: readonly SentDocument[];
  /** The index of the input that is being read; documents of the inputs before it are complete. */
  readonly at: number;
  readonly isEnd: boolean;
}

/** A refusal is sent as plain data, because an error loses its properties when it is sent. */
export interface SentDocument {
  readonly index: number;
  readonly document: Readonly<Record<string, unknown>>;
}

export function toSent({ index, document }: FoundDocument): SentDocument {
  if (document.kind === 'report') return { index, document: { ...document } };
  const { reason, message, where } = document.refusal;
  return { index, document: { ...document, refusal: { reason, message, where } } };
}

export function toFound({ index, document }: SentDocument): FoundDocument {
  const received = document as IntakeDocument;
  if (received.kind === 'report') return { index, document: received };
  const { reason, message, where } = received.refusal;
  return { index, document: { ...received, refusal: new Refusal(reason, message, where) } };
}
