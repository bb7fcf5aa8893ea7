import { MAX_INCOMING_BYTES } from '../domain/incoming.ts';
import { DAY_MS } from '../domain/instant.ts';

/* The limits of one document and its values. What a whole input may cost is in budget.ts. */

const MIB = 1024 * 1024;

/** One file, one mail, or standard input. Mailbox files are the largest honest inputs. */
export const MAX_INPUT_BYTES = MAX_INCOMING_BYTES;

/** A genuine report of 100,000 records is about 60 MB; the bombs seen in public collections are 105 MB. */
export const MAX_DOCUMENT_BYTES = 64 * MIB;

/** A container inside a container has to be held in memory as one piece, so it has the limit of a document. */
export const MAX_INNER_CONTAINER_BYTES = 64 * MIB;

/** Held in memory, together with its largest part while that is decoded. Mail providers allow 25 to 50 MB. */
export const MAX_MAIL_BYTES = 48 * MIB;

/** Containers around a document: mail, zip, gzip and zlib each count as one. */
export const MAX_CONTAINER_DEPTH = 4;

export const MAX_DEPTH = 64;

/** A longer text, tag or comment does not occur in reports. */
export const MAX_XML_TEXT_CHARS = 1_000_000;

/** The elements of one record, and those outside records. A whole document of 100,000 honest records has about 1.8 million. */
export const MAX_XML_ELEMENTS = 1_000_000;

/** How many authentication results, override reasons or errors are kept of one parent element. */
export const MAX_LIST_LENGTH = 1_000;

/** Policies of a TLS report, and how many of its failures are kept one by one. */
export const MAX_POLICIES = 1_000;
export const MAX_FAILURES = 10_000;

/** Characters kept of one value: of the namespace, of a name or word, and of a comment or error. */
export const MAX_NAMESPACE_CHARS = 200;
export const MAX_NAME_CHARS = 1_000;
export const MAX_TEXT_CHARS = 4_000;

/** Characters kept of all errors of one report together. */
export const MAX_ERRORS_CHARS = 32_000;

/** Characters of the name of an element. The longest name of the standards has 21. */
export const MAX_XML_NAME_CHARS = 1_000;

/** How long after its receipt a report may begin: clocks of reporters are wrong by a day, not by more. */
export const MAX_BEGIN_AHEAD_MS = 2 * DAY_MS;

/** RFC 9990 sets no limit; the longest id seen has 64 characters. */
export const MAX_REPORT_ID_CHARS = 512;

export const MAX_FOLDER_DEPTH = 32;
