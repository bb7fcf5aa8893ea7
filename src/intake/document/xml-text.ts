import { advance, type WarningLog } from '../warnings.ts';
import { repairProlog, TextRepair } from './repair.ts';
import type { XmlParser } from './xml.ts';

/** The first bytes of a document in each Unicode encoding: byte order marks, then two ASCII characters of UTF-16. */
const SIGNATURES: readonly (readonly [label: string, bytes: RegExp])[] = [
  ['utf-8', /^\xef\xbb\xbf/],
  ['utf-16le', /^(?:\xff\xfe|[\t-~]\0[\t-~]\0)/],
  ['utf-16be', /^(?:\xfe\xff|\0[\t-~]\0[\t-~])/],
];
const SIGNATURE_BYTES = 4;
const DECLARED_ENCODING = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]+)["']/;
const DECLARATION_BYTES = 1024;

/** Text in a Unicode encoding that its first bytes show, else in UTF-8. */
export function decodeUnicode(bytes: Uint8Array): string {
  return new TextDecoder(findUnicode(bytes) ?? 'utf-8').decode(bytes);
}

/** Bytes to text for the parser, piece by piece: decoded, with prolog and text repaired. */
export class XmlText {
  readonly #parser: XmlParser;
  readonly #log: WarningLog;
  readonly #decoder: ReturnType<typeof createDecoder>;
  readonly #repair: TextRepair;
  #isProlog = true;

  /** `charset` is what a mail says of it. */
  constructor(parser: XmlParser, head: Uint8Array, log: WarningLog, charset?: string) {
    this.#parser = parser;
    this.#log = log;
    this.#decoder = createDecoder(head, log, charset);
    this.#repair = new TextRepair(log, () => parser.location);
  }

  /** How many tokens it had so far. */
  get tokens(): number {
    return this.#parser.tokens + this.#repair.tokens;
  }

  write(bytes: Uint8Array): void {
    this.#pass(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): void {
    this.#pass(this.#decoder.decode());
    this.#parser.write(this.#repair.end());
    this.#parser.end();
  }

  #pass(text: string): void {
    const at = text.indexOf('\uFFFD');
    const locate = () => advance(this.#parser.location, text.slice(0, at));
    if (at >= 0) this.#log.add('unreadable_characters', locate);
    const sound = this.#isProlog ? repairProlog(text, this.#log) : text;
    this.#isProlog = false;
    this.#parser.write(this.#repair.write(sound));
  }
}

/** The encoding that the first bytes show. */
export function findUnicode(head: Uint8Array): string | undefined {
  const start = Buffer.from(head.subarray(0, SIGNATURE_BYTES)).toString('latin1');
  return SIGNATURES.find(([, bytes]) => bytes.test(start))?.[0];
}

function declaredEncoding(head: Uint8Array, charset?: string): string {
  const start = new TextDecoder('latin1').decode(head.subarray(0, DECLARATION_BYTES));
  const declared = DECLARED_ENCODING.exec(start)?.[1];
  const { encoding } = new TextDecoder(declared ?? (isUtf8(head) ? undefined : charset));
  // The declaration could be read byte by byte, so the encoding is not UTF-16, whose other names are `unicode` and `ucs-2`.
  return encoding.startsWith('utf-16') ? 'utf-8' : encoding;
}

/** Whether this beginning of a text can be in UTF-8. */
function isUtf8(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Chosen by byte order mark, else by the XML declaration, else UTF-8; by a mail's charset only where it is none of these. */
export function createDecoder(head: Uint8Array, log: WarningLog, charset?: string) {
  try {
    return new TextDecoder(findUnicode(head) ?? declaredEncoding(head, charset));
  } catch {
    log.add('unknown_encoding');
    return new TextDecoder();
  }
}
