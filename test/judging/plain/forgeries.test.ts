import { expect, test } from 'vitest';
import { aBareAccount } from '../../support/builders.ts';
import { aStore } from '../../support/store.ts';
import { FORGERIES, listDomains } from './forgeries.ts';
import { type PlainDomain, toExpected } from './model.ts';
import { answer } from './store.ts';

async function anAsker() {
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  return (domain: PlainDomain) => answer(store, accountId, domain);
}

const LIMIT_MS = 600_000;

test(
  'twenty domains without forgeries: ten are ready',
  async () => {
    const ask = await anAsker();
    const answers = [];
    for (const domain of listDomains()) {
      const { answer: found, step } = await ask(domain);
      expect({ answer: found, step: step.kind }, JSON.stringify(domain)).toEqual(
        toExpected(domain),
      );
      answers.push(found);
    }
    expect(answers.filter((one) => one === 'yes')).toHaveLength(10);
    expect(answers.filter((one) => one === 'not_yet')).toHaveLength(10);
  },
  LIMIT_MS,
);

test.each(Object.keys(FORGERIES))(
  '%s: turns no answer, but for the question about one stranger',
  async (forgery) => {
    const ask = await anAsker();
    for (const domain of listDomains(forgery)) {
      const { answer: found, obstacles } = await ask(domain);
      const about = JSON.stringify({ domain, obstacles });
      if (toExpected(domain)?.answer === 'not_yet') {
        expect(found, about).toBe('not_yet');
        expect(
          obstacles.some(({ kind }) => kind === 'own'),
          about,
        ).toBe(true);
      } else if (found !== 'yes') {
        const asked = obstacles.flatMap((one) => (one.kind === 'undecided' ? one.senders : []));
        expect([found, asked.length], about).toEqual(['not_yet', 1]);
        expect(
          obstacles.map(({ kind }) => kind),
          about,
        ).toEqual(['undecided']);
      }
    }
  },
  LIMIT_MS,
);
