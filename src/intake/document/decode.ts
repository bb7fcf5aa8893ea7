import type { WarningLog } from '../warnings.ts';

/** Bytes to text, chunk by chunk. */
export interface Decoder {
  write(chunk: Uint8Array): string;
  end(): string;
}

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

/** Chosen by byte order mark, else by the XML declaration, else UTF-8; never by a mail's charset. */
export function decoderFor(head: Uint8Array, log: WarningLog): Decoder {
  const decoder = textDecoder(signatureOf(head) ?? declaredEncoding(head), log);
  return {
    write: (chunk) => decoder.decode(chunk, { stream: true }),
    end: () => decoder.decode(),
  };
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

function textDecoder(label: string, log: WarningLog): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch {
    log.add('unknown_encoding');
    return new TextDecoder();
  }
}
