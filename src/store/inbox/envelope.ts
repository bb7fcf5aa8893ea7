import type { Envelope } from './incoming.ts';

/** The longest address has 254 characters (RFC 5321, 4.5.3.1). */
const MAX_CHARS = 320;
const MAX_RECIPIENTS = 20;

/** An envelope as it is stored: bounded, whatever came in. */
export function toEnvelopeText({ recipients, ...texts }: Envelope): string {
  const cut = Object.entries(texts).map(([name, text]) => [name, text && toCut(text)]);
  const some = recipients?.slice(0, MAX_RECIPIENTS).map((recipient) => toCut(recipient));
  return JSON.stringify({ ...Object.fromEntries(cut), recipients: some });
}

/** Without half a character at the end, which some engines do not store. */
export function toCut(text: string, chars = MAX_CHARS): string {
  return text.slice(0, chars).toWellFormed().replaceAll('\0', '\ufffd');
}

export function parseEnvelope(text: string): Envelope {
  return JSON.parse(text);
}
