import { randomUUID } from 'node:crypto';
import { readConfig } from '../../config/config.ts';
import { Failure } from '../../domain/failure.ts';
import { readClaimed } from '../../intake/inbox/worker.ts';
import { createParserProcess } from '../../intake/parser/parser-process.ts';
import { createMailVerifier } from '../../jobs/inbox.ts';
import { findDomainIds } from '../../store/domains/domains.ts';
import type { Db } from '../../store/engine/database.ts';
import type { Store } from '../../store/engine/store.ts';
import { findMail, type ListedMail } from '../../store/inbox/mails.ts';
import { reclaimMail } from '../../store/inbox/operator.ts';
import { findContent } from '../../store/inbox/parts.ts';
import { evaluateNow } from '../alerts.ts';
import { type OutputOptions, printList, tell } from '../output/output.ts';
import { withStore } from '../with-store.ts';
import { toOutput, toResultText } from './mail-output.ts';

/** How long other workers leave the mail alone when this command is killed. */
const CLAIM_MS = 120_000;

export async function rereadMails(seqs: readonly number[], options: OutputOptions): Promise<void> {
  const parser = createParserProcess();
  try {
    const mails = await withStore(async (store) => {
      const mails = [];
      for (const seq of seqs) mails.push(await reread(store, parser, seq));
      return mails;
    });
    const rows = mails.map(toOutput);
    const toColumns = (row: (typeof rows)[number]) => ({ id: row.id, result: toResultText(row) });
    printList(rows, { none: '', toColumns }, options);
    if (mails.some(({ state }) => state !== 'done')) process.exitCode = 1;
  } finally {
    await parser.close();
  }
}

async function reread(
  store: Store,
  parser: ReturnType<typeof createParserProcess>,
  seq: number,
): Promise<ListedMail> {
  const { db } = store;
  const mail = await findMail(db, seq);
  await findBytes(db, mail);
  const holder = { id: randomUUID(), claimMs: CLAIM_MS };
  const receivedAt = new Date(mail.received_at);
  const claimed = await reclaimMail(db, holder, seq);
  await readClaimed(
    {
      db,
      parser,
      holder,
      now: () => receivedAt,
      verify: createMailVerifier(readConfig(process.env)),
      afterStored: async ({ stored }) => {
        await evaluateNow(store, await findDomainIds(db, [...stored]));
      },
      logError: (error) => tell(error instanceof Error ? error.message : String(error)),
    },
    [claimed],
  );
  return await findMail(db, seq);
}

const HAS_PARTS =
  'Of a mail with a report, the part that has it is kept: plumbline document show and reread.';

/** Throws `not_found` when the bytes were not kept. */
export async function findBytes(db: Db, mail: ListedMail): Promise<Uint8Array> {
  const bytes = await findContent(db, mail);
  if (bytes !== undefined) return bytes;
  const { seq, result } = mail;
  const why = mail.reason ?? result ?? 'it is not complete';
  const hint = result === 'processed' || result === 'rejected' ? ` ${HAS_PARTS}` : '';
  throw new Failure('not_found', `The bytes of mail-${seq} were not kept (${why}).${hint}`);
}
