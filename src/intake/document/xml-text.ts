import { advance, type WarningLog } from '../warnings.ts';
import { repairProlog, TextRepair } from './repair.ts';
import type { XmlParser } from './xml.ts';

/** The first bytes of a document in each Unicode encoding: byte order marks, then UTF-16's `<` without one. */
const SIGNATURES: readonly (readonly [label: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-16le', [0x3c, 0x00]],
  ['utf-16be', [0x00, 0x3c]],
];
const DECLARED_ENCODING = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]+)["']/;
const DECLARATION_BYTES = 1024;

/** The first bytes as text, for detection only. */
export function decodeHead(head: Uint8Array): string {
  return new TextDecoder(signatureOf(head) ?? 'utf-8').decode(head);
}

/** Bytes to text for the parser, piece by piece: decoded, with prolog and text repaired. */
export class XmlText {
  readonly #parser: XmlParser;
  readonly #log: WarningLog;
  readonly #decoder: ReturnType<typeof createDecoder>;
  readonly #repair: TextRepair;
  #isProlog = true;

  constructor(parser: XmlParser, head: Uint8Array, log: WarningLog) {
    this.#parser = parser;
    this.#log = log;
    this.#decoder = createDecoder(head, log);
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

function signatureOf(head: Uint8Array): string | undefined {
  return SIGNATURES.find(([, bytes]) => bytes.every((byte, at) => head[at] === byte))?.[0];
}

function declaredEncoding(head: Uint8Array): string {
  const start = new TextDecoder('latin1').decode(head.subarray(0, DECLARATION_BYTES));
  const label = DECLARED_ENCODING.exec(start)?.[1] ?? 'utf-8';
  // The declaration could be read byte by byte, so the encoding is not UTF-16.
  return /^\s*utf-?16/i.test(label) ? 'utf-8' : label;
}

/** Chosen by byte order mark, else by the XML declaration, else UTF-8; never by a mail's charset. */
function createDecoder(head: Uint8Array, log: WarningLog) {
  try {
    return new TextDecoder(signatureOf(head) ?? declaredEncoding(head));
  } catch {
    log.add('unknown_encoding');
    return new TextDecoder();
  }
}
