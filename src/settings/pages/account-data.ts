import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Response } from 'express';
import { html } from 'hono/html';
import { insertAudit } from '../../store/events/audit.ts';
import { exportBeside } from '../../store/leaving/account-export.ts';
import {
  askForDeletion,
  type DeletionRequest,
  takeBackDeletion,
} from '../../store/leaving/deletion-request.ts';
import type { PageHandler } from '../deps.ts';
import { sendDownload } from '../frame/download.ts';
import { renderAction, renderField, renderFormToken } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { renderText, renderTime } from '../frame/text.ts';
import { readField } from '../request.ts';
import { actorOf, onForm, redirectWithNotice, type Visitor, visitorOf } from '../visitor.ts';

const ACCOUNT = '/settings/account';
const DELETION = `${ACCOUNT}/deletion`;

/**
 * All that the account has, as `plumbline account export` writes it, but not of one moment. A connection that breaks off
 * shows that the file is not whole.
 */
export const exportData: PageHandler = async (deps, _req, res) => {
  const { db } = deps.store;
  const by = actorOf(res, deps);
  const { accountId } = by;
  const { accountName: subject } = visitorOf(res);
  await sendDownload(res, {
    fileName: `plumbline-${by.at.slice(0, 10)}.jsonl.gz`,
    type: 'application/gzip',
    streams: [Readable.from(exportBeside(deps.store, accountId)), createGzip()],
    kind: 'account',
    onStart: () =>
      db.write((tx) => insertAudit(tx, by, { accountId, action: 'account_exported', subject })),
  });
};

export const askToDeleteAccount: PageHandler = (_deps, _req, res) => sendQuestion(res);

/** Nothing is deleted: the operator does that. */
export const requestDeletion: PageHandler = async (deps, req, res) => {
  const { accountName } = visitorOf(res);
  if (normalize(readField(req, 'name')) !== normalize(accountName))
    return await sendQuestion(res, 'This is not the name of the account.');
  const by = actorOf(res, deps);
  await askForDeletion(deps.store.db, by.accountId, by);
  const notice = 'The operator is asked to delete the account. Until then everything goes on.';
  await redirectWithNotice(deps, res, { path: ACCOUNT, notice });
};

/** A browser shows spaces in a row as one. */
const normalize = (name: string) => name.normalize('NFC').replace(/\s+/g, ' ').trim();

export const withdrawDeletion = onForm(ACCOUNT, async ({ db, by }) => {
  await takeBackDeletion(db, by.accountId, by);
  return 'The account stays.';
});

async function sendQuestion(res: Response, problem?: string): Promise<void> {
  const visitor = visitorOf(res);
  const main = html`<section class="card">
    <h1>Delete the account “${visitor.accountName}”?</h1>
    <p>You ask the operator of this Plumbline to delete it, with its domains, reports, alerts, keys and people. That cannot be
      undone. Until the operator does so, everything goes on, and an owner can take it back.</p>
    <p><a href="${ACCOUNT}/export" download>Download the account’s data</a> first, if you want to keep it.</p>
    <form method="post" action="${DELETION}" class="narrow">
      ${renderFormToken(visitor)}
      ${renderField({
        id: 'name',
        label: 'Name of the account',
        attributes: html`required autocomplete="off"`,
        help: 'Type it, so that no other account is meant.',
        problem,
      })}
      <div class="choices">
        <a href="${ACCOUNT}" role="button" class="secondary">Keep it</a>
        <button class="danger">Ask for deletion</button>
      </div>
    </form>
  </section>`;
  const status = problem === undefined ? 200 : 422;
  await sendPage(res, { title: 'Delete the account', current: 'account', status, main });
}

export function renderData(visitor: Visitor, request: DeletionRequest | undefined, now: Date) {
  return html`<section class="card" aria-labelledby="data">
    <h2 id="data">The account’s data</h2>
    <p><a href="${ACCOUNT}/export" download>Download all of it</a>: domains, reports with the files in which they came, alerts,
      people and audit, without passwords and keys. Each line of the file is a row in JSON, compressed with gzip; the last line
      says <code>"end":true</code> when the file is whole.</p>
    ${
      request === undefined
        ? html`<p><a href="${DELETION}">Ask for the deletion of the account</a></p>`
        : html`<div class="beside">
            <p role="status">${renderText(request.by, 254)} asked for the deletion of this account ${renderTime(request.at, now)}. The operator
              of this Plumbline deletes it.</p>
            ${renderAction(visitor, { path: `${DELETION}/withdraw`, text: 'Keep the account', look: 'secondary' })}
          </div>`
    }
  </section>`;
}
