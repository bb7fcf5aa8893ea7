import type { Request } from 'express';
import { html } from 'hono/html';
import { hashPassword, isPassword, PASSWORD_RULE } from '../../domain/access/password.ts';
import { Failure } from '../../domain/failure.ts';
import { findCredentials } from '../../store/people/people.ts';
import type { SettingsDeps } from '../deps.ts';
import { renderField } from '../frame/forms.ts';
import type { Html } from '../frame/text.ts';
import { readField } from '../request.ts';

/** Takes the same time when there is no such person. */
export async function findByPassword({ store }: SettingsDeps, email: string, password: string) {
  const person = await findCredentials(store.db, email);
  const passwordHash = person?.passwordHash ?? null;
  const isRight = await isPassword(password, passwordHash);
  if (person === undefined || passwordHash === null || !isRight) return undefined;
  return { personId: person.personId, passwordHash };
}

export function renderNewPassword(problem: Failure | undefined): Html {
  return html`${renderField({
    id: 'new',
    label: 'New password',
    attributes: html`type="password" required minlength="12" autocomplete="new-password"`,
    help: PASSWORD_RULE,
    problem: problem?.message,
  })}
    <label for="again">The same again</label>
    <input id="again" name="again" type="password" required autocomplete="new-password">`;
}

export async function readNewHash(req: Request): Promise<string | Failure> {
  const password = readField(req, 'new');
  if (password !== readField(req, 'again'))
    return new Failure('validation_error', 'The two passwords are not the same.');
  try {
    return await hashPassword(password);
  } catch (error) {
    if (error instanceof Failure && error.code === 'validation_error') return error;
    throw error;
  }
}
