import { expect, test } from 'vitest';
import { createMailAnswers } from '../../src/dns/mail-answers.ts';
import { serveDns, type Zone } from '../support/dns-server.ts';

test('answers are asked for once, also when there is none and when the server fails', async () => {
  const zone: Zone = { 'a.example': [['one ', 'text']], 'broken.example': 'servfail' };
  const { address, asked } = await serveDns(zone);
  const ask = createMailAnswers([address]);
  expect(await Promise.all([ask('a.example', 'TXT'), ask('A.example', 'TXT')])).toEqual([
    [['one ', 'text']],
    [['one ', 'text']],
  ]);
  for (const _ of [1, 2]) {
    await expect(ask('none.example', 'TXT')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(ask('broken.example', 'TXT')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  }
  expect(await ask('a.example', 'TXT')).toEqual([['one ', 'text']]);
  expect(asked.filter((name) => name === 'a.example')).toHaveLength(1);
  expect(asked.filter((name) => name === 'none.example')).toHaveLength(1);
  const broken = asked.filter((name) => name === 'broken.example').length;
  await expect(ask('broken.example', 'TXT')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  expect(asked.filter((name) => name === 'broken.example')).toHaveLength(broken);
});

test('a type that no mail needs is not asked for', async () => {
  const { address, asked } = await serveDns({});
  await expect(createMailAnswers([address])('a.example', 'ANY')).rejects.toThrow('EBADQUERY');
  expect(asked).toEqual([]);
});
