import { test } from 'vitest';
import { aMailServer, refusal } from '../support/mail-server.ts';
import { aDatabasePath } from '../support/store.ts';
import { killSenders } from './killed-delivery.ts';

/** With `KILL_ROUNDS=100`, 1,600 alerts fire and resolve. */
const KILLS = Number(process.env['KILL_ROUNDS'] ?? 10);
const TIMEOUT = { timeout: Math.max(300_000, KILLS * 15_000) };

test(
  `every mail comes at least once, and none that nobody wrote, over ${KILLS} kills while a third of all tries fail`,
  TIMEOUT,
  async () => {
    let tries = 0;
    const { config, received } = await aMailServer({
      answer: () => (Math.random() < 1 / 3 ? refusal(451, 'Later') : null),
      answerTo: () => {
        tries += 1;
        return null;
      },
    });
    const database = aDatabasePath();
    await killSenders({
      database,
      kills: KILLS,
      server: config,
      received,
      countTries: () => tries,
    });
  },
);
