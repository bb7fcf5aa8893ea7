import { parseIpAddress } from '../ip-address.ts';
import { UNSAFE } from '../unsafe-characters.ts';

const MAX_CHARS = 300;
/** What marks are of besides addresses: `service SendGrid`, `domain list.example.net`, `network AS64500`, `scattered`. */
const SENDER = /^(?:service|domain|network) (?=\S)|^scattered$/;

/** The canonical text of an address, or the key of a sender. undefined for other text. */
export function parseMarkSubject(text: string): string | undefined {
  const isPlain = text.length <= MAX_CHARS && text === text.trim() && text.search(UNSAFE) === -1;
  return isPlain && SENDER.test(text) ? text : parseIpAddress(text);
}

/** “SendGrid”. */
export function nameMarkSubject(subject: string): string {
  return subject === 'scattered' ? 'Mail of scattered addresses' : subject.replace(SENDER, '');
}
