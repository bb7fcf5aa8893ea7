import { parseDomainName } from './domain-name.ts';
import { Failure } from './failure.ts';

/** One @, no spaces, a dot in the domain. Whether somebody reads mail there is not for a pattern to say. */
const EMAIL = /^[^\s@<>]{1,64}@[^\s@<>]+\.[^\s@<>]+$/;
const MAX_LENGTH = 254;

/** An e-mail address as a person wrote it, trimmed. */
export function parseEmail(text: string): string {
  const email = text.trim();
  if (email.length > MAX_LENGTH || !EMAIL.test(email)) {
    throw new Failure('validation_error', `“${email}” is no e-mail address.`);
  }
  return email;
}

/**
 * The one form in which addresses are stored to be compared: NFC, the local part in lower case, the domain as
 * an A-label in lower case. Never NFKC, which would make another person's address of `ａlice@…` (fullwidth a).
 */
export function toEmailKey(email: string): string {
  const text = email.trim().normalize('NFC');
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1);
  return toLower(text.slice(0, at + 1)) + (parseDomainName(domain) ?? toLower(domain));
}

/** Lower case can leave letters and accents apart that NFC puts together. */
function toLower(text: string): string {
  return text.toLowerCase().normalize('NFC');
}
