import type { Response } from 'express';
import { html } from 'hono/html';
import { findVisitor, type Visitor } from '../visitor.ts';
import type { Html } from './text.ts';

/** Every form of a signed-in person must contain this field (forgery.ts). */
export function renderFormToken({ formToken }: Visitor): Html {
  return html`<input type="hidden" name="form_token" value="${formToken}">`;
}

/** A form that is also for people who are not signed in has no such field for them. */
export function renderTokenIfAny(res: Response): Html | '' {
  const visitor = findVisitor(res);
  return visitor === undefined ? '' : renderFormToken(visitor);
}

interface Action {
  readonly path: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly text: string;
  readonly look?: 'secondary' | 'quiet';
  /** Says to screen readers what the button is about. */
  readonly label?: string;
}

export function renderAction(visitor: Visitor, { path, fields, text, look, label }: Action): Html {
  return html`<form method="post" action="${path}">
    ${renderFormToken(visitor)}${renderHiddenFields(fields ?? {})}<button ${look ? html`class="${look}"` : ''} ${label ? html`aria-label="${label}"` : ''}>${text}</button>
  </form>`;
}

interface Field {
  /** The id is the field's name, too. */
  readonly id: string;
  readonly label: string;
  readonly attributes: Html;
  readonly help?: string;
  /** Why the value was rejected, shown in place of the help. */
  readonly problem?: string | undefined;
}

export function renderField({ id, label, attributes, help, problem }: Field): Html {
  const text = problem ?? help;
  return html`<label for="${id}">${label}</label>
    <input id="${id}" name="${id}" ${attributes} ${text ? html`aria-describedby="${id}-help"` : ''}
      ${problem ? html`aria-invalid="true" autofocus` : ''}>
    ${text ? html`<small id="${id}-help" ${problem ? html`role="alert"` : ''}>${text}</small>` : ''}`;
}

/** Tells password managers whose password the form is about. */
export function renderUsername(email: string): Html {
  return html`<input type="text" name="username" autocomplete="username" value="${email}" hidden>`;
}

export function renderOptions(
  options: readonly (readonly [value: string, text: string])[],
  chosen: string | undefined,
): readonly Html[] {
  return options.map(
    ([value, text]) =>
      html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${text}</option>`,
  );
}

/** The field that `readSearch` reads. */
export function renderSearch(search: string, hint: string): Html {
  return html`<div><label for="q">Search</label>
    <input id="q" name="q" type="search" maxlength="100" value="${search}" placeholder="${hint}"></div>`;
}

export function renderHiddenFields(fields: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
}

/** A form behind a button, which needs no script. It is open where there is nothing yet, and where it was refused. */
export function renderFolded(title: string, isOpen: boolean, form: Html): Html {
  return html`<details class="folded" ${isOpen ? html`open` : ''}>
    <summary role="button">${title}</summary>
    <section class="card" aria-label="${title}">${form}</section>
  </details>`;
}

interface Copyable {
  readonly id: string;
  readonly label: string;
  readonly text: string;
  readonly rows?: number;
  readonly isFocused?: boolean;
}

/** Without JavaScript, one click selects the text. */
export function renderCopyable({ id, label, text, rows = 1, isFocused }: Copyable): Html {
  return html`<label for="${id}">${label}</label>
    <div class="copyable">
      <textarea id="${id}" rows="${rows}" readonly autocomplete="off" spellcheck="false" ${isFocused ? html`autofocus` : ''}>${text}</textarea>
      <button type="button" class="secondary" data-copy="${id}" aria-label="Copy: ${label}">Copy</button>
    </div>`;
}
