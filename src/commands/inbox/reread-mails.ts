import { randomUUID } from 'node:crypto';
import { readClaimed } from '../../intake/inbox/worker.ts';
import { createParserProcess } from '../../intake/parser/parser-process.ts';
import { findDomainIds } from '../../store/accounts/domains.ts';
import type { Store } from '../../store/engine/open.ts';
import { findMail } from '../../store/inbox/list.ts';
import { reclaimMail } from '../../store/inbox/operator.ts';
import { findContent } from '../../store/inbox/parts.ts';
import { evaluateNow } from '../alerts.ts';
import { type OutputOptions, printList, tell } from '../output/output.ts';
import { withStore } from '../with-store.ts';
import { toOutput, toWords } from './inbox-list.ts';
import { toGone } from './inbox-show.ts';

/** How long other workers leave the mail alone when this command is killed. */
const CLAIM_MS = 120_000;

/** Reads mails again, one after the other, and prints what became of them. */
export async function rereadMails(seqs: readonly number[], options: OutputOptions): Promise<void> {
  const parser = createParserProcess();
  try {
    const mails = await withStore(async (store) => {
      const mails = [];
      for (const seq of seqs) mails.push(await reread(store, parser, seq));
      return mails;
    });
    const rows = mails.map(toOutput);
    const toColumns = (row: (typeof rows)[number]) => ({ id: row.id, result: toWords(row) });
    printList(rows, { none: '', toColumns }, options);
    if (mails.some(({ state }) => state !== 'done')) process.exitCode = 1;
  } finally {
    await parser.close();
  }
}

async function reread(store: Store, parser: ReturnType<typeof createParserProcess>, seq: number) {
  const { db } = store;
  const known = await findMail(db, seq);
  if ((await findContent(db, { ...known, byteCount: known.byte_count })) === undefined)
    throw toGone(known);
  const holder = { id: randomUUID(), claimMs: CLAIM_MS };
  const mail = await reclaimMail(db, holder, seq);
  const receivedAt = new Date(known.received_at);
  await readClaimed(
    {
      ...{ db, parser, holder, now: () => receivedAt },
      afterStored: async ({ stored }) => {
        await evaluateNow(store, await findDomainIds(db, [...stored]));
      },
      logError: (error) => tell(error instanceof Error ? error.message : String(error)),
    },
    [mail],
  );
  return await findMail(db, seq);
}
