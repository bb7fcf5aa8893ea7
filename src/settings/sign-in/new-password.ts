import type { Request } from 'express';
import { html } from 'hono/html';
import { hashPassword, PASSWORD_RULE } from '../../domain/access/password.ts';
import { Failure } from '../../domain/failure.ts';
import { readField } from '../form.ts';
import type { Html } from '../frame/page.ts';

/** The fields for a new password, typed twice. */
export function renderNewPassword(problem: Failure | undefined): Html {
  const isWrong = problem !== undefined;
  return html`<label for="new">New password</label>
    <input id="new" name="new" type="password" required minlength="12" autocomplete="new-password" aria-describedby="new-help"
      ${isWrong ? html`aria-invalid="true" autofocus` : ''}>
    <small id="new-help" ${isWrong ? html`role="alert"` : ''}>${problem?.message ?? PASSWORD_RULE}</small>
    <label for="again">The same again</label>
    <input id="again" name="again" type="password" required autocomplete="new-password">`;
}

/** The hash of the new password, or the error that the form then shows. */
export async function readNewHash(req: Request): Promise<string | Failure> {
  try {
    return await hashPassword(readNewPassword(req));
  } catch (error) {
    if (error instanceof Failure && error.code === 'validation_error') return error;
    throw error;
  }
}

function readNewPassword(req: Request): string {
  const password = readField(req, 'new');
  if (password !== readField(req, 'again')) {
    throw new Failure('validation_error', 'The two passwords are not the same.');
  }
  return password;
}
