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

/** What two spellings of one address have in common: a person signs in with either. */
export function toEmailKey(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
