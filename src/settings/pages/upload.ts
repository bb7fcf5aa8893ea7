import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import { pluralize } from '../../domain/text.ts';
import { insertAudit } from '../../store/events/audit.ts';
import { createDeliver } from '../../store/inbox/deliver.ts';
import { createRoom } from '../../store/inbox/room.ts';
import { findUpload, toUploadKey, type Upload } from '../../store/inbox/uploads.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { renderTable } from '../frame/elements.ts';
import { sendPage } from '../frame/page.ts';
import { type Html, renderDomainName, renderText } from '../frame/text.ts';
import { addressOf, idOf } from '../request.ts';
import { actorOf, explainBusy, type Visitor, visitorOf } from '../visitor.ts';

/*
 * People's files go the way of a mail. A form with files (RFC 7578) is one but for its first header field, so it is stored as
 * it comes, and only the parser's process reads it.
 */

const ACCOUNT = '/settings/account';
const MAX_MIB = 25;
const MAX_BYTES = MAX_MIB * 1024 * 1024;
const TOO_LARGE = `The files may have ${MAX_MIB} MiB together. Nothing was taken in.`;
const BUSY = 'Plumbline can take nothing in at the moment. Try again later, or tell the operator.';

/** An upload is in the inbox, whole, when the answer is a redirection to its page. */
export function createUpload({ store: { db }, uploads }: SettingsDeps): PageHandler {
  const [deliver, findShortage] = [createDeliver(db), createRoom(db)];
  return async (deps, req, res) => {
    const by = actorOf(res, deps);
    const { accountId, at: receivedAt } = by;
    const envelope = { remoteAddress: addressOf(req), isTrusted: uploads === 'trusted' };
    if (await findShortage(envelope.remoteAddress)) throw new Failure('unavailable', BUSY);
    const id = randomUUID();
    const mail = { envelope, receivedAt, accountId, key: toUploadKey(id), bytes: toMail(req) };
    try {
      await deliver({ door: 'upload', ...mail }).catch(explainBusy(BUSY));
    } catch (error) {
      // Nobody waits for an answer.
      if (req.errored !== null) return;
      throw error;
    }
    const { accountName: subject } = visitorOf(res);
    await db.write((tx) => insertAudit(tx, by, { accountId, action: 'reports_uploaded', subject }));
    res.redirect(303, `${ACCOUNT}/uploads/${id}`);
  };
}

/** The request stays open for the answer when it is refused before its end. */
async function* toMail(req: Request): AsyncGenerator<Uint8Array> {
  const { 'content-type': type = '', 'content-length': length = 0 } = req.headers;
  if (!type.toLowerCase().startsWith('multipart/form-data;'))
    throw new Failure('validation_error', 'This form could not be read.');
  yield Buffer.from(`Content-Type: ${type}\r\n\r\n`, 'latin1');
  let size = 0;
  if (Number(length) <= MAX_BYTES)
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > MAX_BYTES) break;
      yield chunk;
    }
  if (Math.max(size, Number(length)) > MAX_BYTES) throw new Failure('limit_reached', TOO_LARGE);
}

export function renderUploadForm({ formToken }: Visitor): Html {
  return html`<section class="card" aria-labelledby="upload">
    <h2 id="upload">Upload reports</h2>
    <p>Reports (XML; about TLS, JSON), archives of them (gz, zip, tar), and mails with them (eml, mbox), up to ${MAX_MIB} MiB together.</p>
    <form method="post" action="${ACCOUNT}/uploads?form_token=${formToken}" enctype="multipart/form-data" class="narrow" data-upload>
      <label for="files">Files</label>
      <input id="files" name="files" type="file" multiple required>
      <progress max="1" value="0" aria-label="Uploaded" hidden></progress>
      <button>Upload</button>
    </form>
  </section>`;
}

/** How long the page waits for the outcome. Later the browser asks again. */
const WAITS = 24;
const WAIT_MS = 250;
const REFRESH_SECONDS = '5';

export const showUpload: PageHandler = async ({ store: { db } }, req, res) => {
  const find = () => findUpload(db, idOf(req), visitorOf(res).accountId);
  let upload = await find();
  for (let i = 0; i < WAITS && upload.result === 'waiting' && !res.destroyed; i += 1) {
    await sleep(WAIT_MS);
    upload = await find();
  }
  if (upload.result === 'waiting') res.set('Refresh', REFRESH_SECONDS);
  const main = html`<p class="trail"><a href="${ACCOUNT}">Settings / Account</a> / Upload</p>
    <h1>Upload</h1>
    <section class="card" aria-label="Upload">${renderUpload(upload)}</section>`;
  await sendPage(res, { title: 'Upload', current: 'account', main });
};

const UNREAD: Partial<Record<Upload['result'], string>> = {
  waiting: 'The files have come in, and wait to be read. This page shows what became of them.',
  delayed: 'The files have come in, and are read later. This page then shows what became of them.',
  stuck: 'The files have come in, and cannot be read: tell the operator.',
};

function renderUpload({ result, documents, unlisted }: Upload): Html {
  const unread = UNREAD[result];
  if (unread !== undefined) return html`<p role="status">${unread}</p>`;
  const rows = documents.map(
    (document) => html`<tr role="row">
      <th role="rowheader" scope="row">${renderText(document.file, 160)}</th>
      <td role="cell" data-label="What became of it">${renderOutcome(document)}</td>
    </tr>`,
  );
  return html`${renderTable('cards', ['File', 'What became of it'], rows)}
    ${unlisted === 0 ? '' : html`<p>And ${pluralize(unlisted, 'more document')}.</p>`}
    <p><a href="${ACCOUNT}">Upload others</a></p>`;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  duplicate: 'Stored already',
  conflict: 'Not counted, because another content of it is stored',
};

/** Of a report about a domain that another account has, the same is said as of one that no account has. */
function renderOutcome({ outcome, domain, domainId, reportId, message }: Upload['documents'][0]) {
  if (domain === undefined) return html`Not stored: ${renderText(message ?? '', 320)}`;
  const name = renderDomainName(domain);
  if (domainId === undefined) return html`A report of ${name}, which is no domain of this account`;
  if (outcome === 'removed')
    return html`Not stored: the operator has removed this report of ${name}`;
  return html`${OUTCOMES[outcome] ?? 'Stored'}: <a href="/settings/domains/${domainId}/reports/${reportId}">a report of ${name}</a>`;
}
