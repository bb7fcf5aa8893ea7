import { parseDomainName } from '../domain-name.ts';
import { Failure } from '../failure.ts';

/** Owners manage the people of their account. */
export type Role = 'owner' | 'member';

/** Disabled people count: they can be enabled again. */
export const MAX_PEOPLE_PER_ACCOUNT = 200;

/** Invitations of owners that nobody has accepted. Each occupies an address, which no other account can invite. */
export const MAX_OPEN_INVITATIONS = 20;

/**
 * One @, a dot in the domain, and nothing that has a meaning in a header (RFC 5322, 3.2.3): a mail goes to one address.
 * A pattern cannot tell whether the mailbox exists.
 */
const EMAIL =
  /^[^\s@<>,;:"()[\]\\\p{C}]{1,64}@[^\s@<>,;:"()[\]\\\p{C}]+\.[^\s@<>,;:"()[\]\\\p{C}]+$/u;
const MAX_LENGTH = 254;

export function isEmail(text: string): boolean {
  return text.length <= MAX_LENGTH && EMAIL.test(text);
}

/** The address as typed, trimmed. Throws `validation_error`. */
export function parseEmail(text: string): string {
  const email = text.trim();
  if (!isEmail(email))
    throw new Failure('validation_error', `“${email}” is not an e-mail address.`);
  return email;
}

/**
 * The form in which addresses are compared: NFC, the local part in lower case, the domain as an A-label in
 * lower case. Never NFKC: it would turn `ａlice@…` (fullwidth a) into another person's address.
 */
export function toEmailKey(email: string): string {
  const text = email.trim().normalize('NFC');
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1);
  return toLower(text.slice(0, at + 1)) + (parseDomainName(domain) ?? toLower(domain));
}

/** Converting to lower case can leave a letter and its accent separate, which NFC then combines. */
function toLower(text: string): string {
  return text.toLowerCase().normalize('NFC');
}
