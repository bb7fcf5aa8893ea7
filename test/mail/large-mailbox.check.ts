import { expect, test } from 'vitest';
import { anImapDoor } from '../support/imap-door.ts';
import { aDovecot, optionsOf } from './dovecot.ts';

const MAILS = 8_000;
const PATIENT = { timeout: 280_000, interval: 20 };
/** 30 KB: three quarters of the mails are 180 MB, so memory in which they stay is far above the limit. */
const BODY = 'x'.repeat(76).concat('\r\n').repeat(385);
const MAX_GROWTH_MB = 90;

/** Its times are figures to read: one machine's speed proves nothing about another's. */
test('A mailbox of 8,000 mails is read once, with memory that does not grow', async () => {
  const server = await aDovecot();
  await server.add(Array.from({ length: MAILS }, (_, i) => `Subject: report ${i}\r\n\r\n${BODY}`));
  const figures: { mails: number; seconds: number; rssMb: number }[] = [];
  const startedAt = performance.now();
  const { inbox } = anImapDoor(optionsOf(server, { done: 'leave' }));
  // The mails themselves would be most of the memory.
  let count = 0;
  inbox.deliver = async ({ key = '' }) => {
    count += 1;
    inbox.mails.set(key, '');
  };
  for (let wanted = MAILS / 4; wanted <= MAILS; wanted += MAILS / 4) {
    await expect.poll(() => inbox.mails.size, PATIENT).toBeGreaterThanOrEqual(wanted);
    figures.push({
      mails: inbox.mails.size,
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      rssMb: Math.round(process.memoryUsage.rss() / 1024 ** 2),
    });
  }
  process.stdout.write(`${figures.map((line) => JSON.stringify(line)).join('\n')}\n`);
  const [first, , , last] = figures;
  if (first === undefined || last === undefined) throw new Error('too few figures');
  expect(count).toBe(MAILS);
  expect(last.rssMb - first.rssMb).toBeLessThan(MAX_GROWTH_MB);
});
