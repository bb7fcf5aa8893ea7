/** Reads every hostile input of one kind, as a process that parses does, and says what that cost. The kind is its argument. */
import { HOSTILE } from '../../scripts/hostile/all.ts';
import { aRecord, aReportWith } from '../../scripts/hostile/values.ts';
import { Budget } from '../../src/intake/budget.ts';
import { readDocuments } from '../../src/intake/containers/documents.ts';
import { toKey } from '../../src/intake/verification/answers.ts';
import { checkMail } from '../../src/intake/verification/check.ts';

export interface Cost {
  readonly name: string;
  /** The least of five, on a machine as fast as the budget takes it to be. */
  readonly cpuMs: number;
  readonly countedMs: number;
}

const NOW = '2026-08-01T00:00:00Z';
/** How much more than what was counted a reading may cost, and what small ones do. */
const MOST = { times: 1.5, moreMs: 40 };
const TRIES = 5;
const ASKED = toKey({ name: 's1._domainkey.reporter.example', type: 'TXT' });
const CLAIM = {
  ...{ client: undefined, sender: '', helo: '', trustedServers: [], receivedAt: NOW, spent: 0 },
  answers: new Map([[ASKED, { records: [['v=DKIM1; p=AA==']] }]]),
};

export const isTooMuch = ({ cpuMs, countedMs }: Omit<Cost, 'name'>): boolean =>
  cpuMs > MOST.times * countedMs + MOST.moreMs;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function readOnce(bytes: Buffer): Promise<Omit<Cost, 'name'>> {
  const begun = cpuMs();
  const { cost } = await checkMail(bytes, CLAIM);
  const budget = new Budget(bytes.length, {}, { spent: cost });
  for await (const _ of readDocuments(bytes, { nowMs: Date.parse(NOW), budget }));
  return { cpuMs: cpuMs() - begun, countedMs: budget.cost / 1e6 };
}

const HONEST = Buffer.from(aReportWith({ records: aRecord().repeat(5_000) }));

/** An honest report, read before and after, says how much slower the machine is than the budget takes it to be. */
async function readAtPace(input: Buffer): Promise<Omit<Cost, 'name'>> {
  const before = await readOnce(HONEST);
  const cost = await readOnce(input);
  const after = await readOnce(HONEST);
  const pace = Math.min(...[before, after].map((one) => one.cpuMs / one.countedMs));
  return { ...cost, cpuMs: cost.cpuMs / Math.max(1, pace) };
}

if (import.meta.main) {
  const [kind, filter = ''] = process.argv.slice(2) as [keyof typeof HOSTILE, string?];
  for (const { name, bytes } of HOSTILE[kind].filter((one) => one.name.includes(filter))) {
    const input = bytes();
    let least = await readOnce(input);
    for (let tried = 1; tried < TRIES && isTooMuch(least); tried += 1) {
      const again = await readAtPace(input);
      if (again.cpuMs < least.cpuMs) least = again;
    }
    process.send?.({ name, ...least } satisfies Cost);
  }
  process.disconnect();
}
