import { MAX_INCOMING_BYTES } from '../store/inbox/incoming.ts';

/**
 * The limits of reading. Every limit counts what was really unpacked, while it is unpacked. None is a ratio:
 * a genuine report packs 102 : 1, and a bomb is recognised by its size alone.
 */
const MIB = 1024 * 1024;

/** One file, one mail, or standard input. Mailbox files are the largest honest inputs. */
export const MAX_INPUT_BYTES = MAX_INCOMING_BYTES;

/** Everything that one input unpacks to, all members together: stops a zip of zips. */
export const MAX_UNPACKED_BYTES = 256 * MIB;

/**
 * One XML document. A genuine report of 100,000 records is about 60 MB; the bombs seen in public
 * collections are 105 MB.
 */
export const MAX_XML_BYTES = 64 * MIB;

/** A container inside a container has to be held in memory as one piece, so it has the limit of a document. */
export const MAX_INNER_CONTAINER_BYTES = 64 * MIB;

/**
 * One mail, which is held in memory, together with its largest part while that is decoded. Mail providers
 * allow 25 to 50 MB.
 */
export const MAX_MAIL_BYTES = 48 * MIB;

/** Containers around a document: mail, zip, gzip and zlib each count as one. */
export const MAX_CONTAINER_DEPTH = 3;

/**
 * Members of archives, parts of mails and messages of mailboxes in one input: a base, plus one for each so
 * many bytes of the input. A mailbox of 9,000 reports has 10 MB.
 */
export const MEMBERS_BASE = 10_000;
export const INPUT_BYTES_PER_MEMBER = 100;

/**
 * CPU time for one input, reading and storing together: a base, plus an amount for its first mebibyte, plus an
 * amount for each further one. The largest honest report, 60 MB of XML in 0.5 MB of gzip, takes 2 s; 9,000 reports
 * in a zip of 5 MB take 8 s. The cost of storing is estimated while the input is read.
 */
const CPU_BASE_MS = 2_700;
const CPU_MS_OF_FIRST_MIB = 1_700;
const CPU_MS_OF_FURTHER_MIB = 3_000;
export const CPU_MS_PER_KEPT_BYTE = 0.0004;

/** CPU time for an input of so many bytes, in milliseconds. */
export function maxCpuMs(inputBytes: number): number {
  const mib = inputBytes / MIB;
  const further = Math.max(0, mib - 1) * CPU_MS_OF_FURTHER_MIB;
  return CPU_BASE_MS + Math.min(1, mib) * CPU_MS_OF_FIRST_MIB + further;
}

/** CPU time for one report that a person waits for. The largest honest report takes 2 s. */
export const MAX_WANTED_CPU_MS = 8_000;

/**
 * What one input may add to the database besides its own bytes, estimated: a base, plus a multiple of its
 * size.
 */
export const KEPT_BASE_BYTES = MIB;
export const KEPT_PER_INPUT_BYTE = 3;

/** What one report and one of its source addresses take in the database, with their indexes. */
export const REPORT_ROW_BYTES = 800;
export const SOURCE_ROW_BYTES = 150;
/** What one pattern of a source adds to the row of the source, and a new pattern takes besides its text. */
export const PATTERN_ENTRY_BYTES = 12;
export const PATTERN_ROW_BYTES = 150;

export const MAX_XML_DEPTH = 64;

/** A longer text, tag or comment does not occur in reports. */
export const MAX_XML_TEXT_CHARS = 1_000_000;

/**
 * Elements in one record, and elements outside records. Not in the whole document: 100,000 honest records are
 * about 1.8 million elements.
 */
export const MAX_XML_ELEMENTS = 1_000_000;

/** How many authentication results, override reasons or errors are kept of one parent element. */
export const MAX_LIST_LENGTH = 1_000;

/** Characters kept of one value: of the namespace, of a name or word, and of a comment or error. */
export const MAX_NAMESPACE_CHARS = 200;
export const MAX_NAME_CHARS = 1_000;
export const MAX_TEXT_CHARS = 4_000;

/** Characters kept of all errors of one report together. */
export const MAX_ERRORS_CHARS = 32_000;

/** Characters of the name of an element. The longest name of the standards has 21. */
export const MAX_XML_NAME_CHARS = 1_000;

/** How long after its receipt a report may begin: clocks of reporters are wrong by a day, not by more. */
export const MAX_BEGIN_AHEAD_MS = 2 * 24 * 60 * 60 * 1000;

/** RFC 9990 sets no limit; the longest id seen has 64 characters. */
export const MAX_REPORT_ID_CHARS = 512;

/** Nested folders. */
export const MAX_FOLDER_DEPTH = 32;
