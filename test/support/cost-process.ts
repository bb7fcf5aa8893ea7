/** Reads every hostile input of one kind, as a process that parses does, and says what that cost. The kind is its argument. */
import { HOSTILE } from '../../scripts/hostile/all.ts';
import { generateHostileMails } from '../../scripts/hostile/generated.ts';
import type { Hostile } from '../../scripts/hostile/hostile.ts';
import { aRecord, aReportWith } from '../../scripts/hostile/values.ts';
import { Budget, type Spending } from '../../src/intake/budget.ts';
import { readDocuments } from '../../src/intake/containers/documents.ts';
import { toKey } from '../../src/intake/verification/answers.ts';
import { checkMail } from '../../src/intake/verification/check.ts';

export interface Cost {
  readonly name: string;
  /** The least of up to twenty, on a machine as fast as the budget takes it to be. */
  readonly cpuMs: number;
  readonly countedMs: number;
}

const NOW = '2026-08-01T00:00:00Z';
/** How much more than what was counted a reading may cost, and what small ones do. */
const MOST = { times: 1.5, moreMs: 40 };
/** What any mail may cost, which anybody can send. */
export const MAX_MAIL_MS = 3_000;
const TRIES = 20;
const ASKED = ['reporter', 'other'].map((name) =>
  toKey({ name: `s1._domainkey.${name}.example`, type: 'TXT' }),
);
const CLAIM = {
  ...{ client: undefined, sender: '', helo: '', trustedServers: [], receivedAt: NOW, spent: 0 },
  answers: new Map(ASKED.map((name) => [name, { records: [['v=DKIM1; p=AA==']] }])),
};

export const isTooMuch = (
  { cpuMs, countedMs }: Omit<Cost, 'name'>,
  maxMs = Number.POSITIVE_INFINITY,
): boolean => cpuMs > Math.min(maxMs, MOST.times * countedMs + MOST.moreMs);

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

type Read = (bytes: Buffer) => Promise<Omit<Cost, 'name'>>;

/** Reads it as a file is read, or as a mail: then it is given up early at first. */
async function readOnce(bytes: Buffer, spending: Spending = {}): Promise<Omit<Cost, 'name'>> {
  const begun = cpuMs();
  const { cost } = await checkMail(bytes, { ...CLAIM, ...spending });
  const budget = new Budget(bytes.length, {}, { ...spending, spent: cost });
  for await (const _ of readDocuments(bytes, { nowMs: Date.parse(NOW), budget }));
  const found = { cpuMs: cpuMs() - begun, countedMs: budget.cost / 1e6 };
  if (!spending.isBrief || !budget.isSpent) return found;
  const again = await readOnce(bytes, { ...spending, isBrief: false });
  return { cpuMs: found.cpuMs + again.cpuMs, countedMs: found.countedMs + again.countedMs };
}

const readMail: Read = (bytes) => readOnce(bytes, { isMailed: true, isBrief: true });

/** Of the mails that can be generated. */
const GENERATED = { count: 40, seed: 2026 };

const HONEST = Buffer.from(aReportWith({ records: aRecord().repeat(2_000) }));

/** How much slower the machine is than the budget takes it to be, by an honest report, read before and after each input. */
async function readPace(): Promise<number> {
  const { cpuMs, countedMs } = await readOnce(HONEST);
  return Math.max(1, cpuMs / countedMs);
}

if (import.meta.main) {
  const [kind, filter = ''] = process.argv.slice(2) as [
    keyof typeof HOSTILE | 'generated',
    string?,
  ];
  const [all, read, maxMs]: [readonly Hostile[], Read, number?] =
    kind === 'generated'
      ? [generateHostileMails(GENERATED.count, GENERATED.seed), readMail, MAX_MAIL_MS]
      : [HOSTILE[kind], readOnce];
  let before = await readPace();
  for (const { name, bytes } of all.filter((one) => one.name.includes(filter))) {
    const input = bytes();
    let least = { cpuMs: Number.POSITIVE_INFINITY, countedMs: 0 };
    for (let tried = 0; tried < TRIES && isTooMuch(least, maxMs); tried += 1) {
      const { cpuMs, countedMs } = await read(input);
      const after = await readPace();
      least = { cpuMs: Math.min(least.cpuMs, cpuMs / Math.min(before, after)), countedMs };
      before = after;
    }
    process.send?.({ name, ...least } satisfies Cost);
  }
  process.disconnect();
}
