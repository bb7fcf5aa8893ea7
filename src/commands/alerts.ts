import { Argument, type Command, InvalidArgumentError } from 'commander';
import { type Evaluated, evaluate } from '../alerts/evaluate.ts';
import { readConfig } from '../config/config.ts';
import { explain as explainRule } from '../domain/alerts/explain.ts';
import { RULES } from '../domain/alerts/registry.ts';
import type { Thresholds } from '../domain/alerts/thresholds.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { findOwnedDomain, listWatchedDomainIds } from '../store/accounts/domains.ts';
import { findAccountId, findDomainId } from '../store/accounts/find-by-name.ts';
import { findFacts } from '../store/alerts/alert-facts.ts';
import { type AlertOfAccount, listAccountAlerts } from '../store/alerts/alerts.ts';
import type { Store } from '../store/engine/open.ts';
import { type OutputOptions, printJson, printList, printOne, printText } from './output/output.ts';
import { toShortTime } from './output/short-time.ts';
import { withStore } from './with-store.ts';

const TYPES = RULES.map(({ type }) => type);

export function addAlertCommands(alerts: Command): void {
  alerts
    .command('evaluate')
    .description('Fire and resolve alerts now, for all active domains or for one.')
    .option('--domain <domain>', 'only this domain, by its name or id')
    .action(async ({ domain, ...options }: { domain?: string } & OutputOptions) => {
      const evaluated = await withStore(async (store) => {
        const { db } = store;
        const isAll = domain === undefined;
        const ids = isAll ? await listWatchedDomainIds(db) : [await findDomainId(db, domain)];
        return await evaluateNow(store, ids);
      });
      printOne({ ...evaluated }, options);
    });

  alerts
    .command('list <account>')
    .description('List an account’s alerts, the newest 200.')
    .action(async (account: string, options: OutputOptions) => {
      const found = await withStore(async ({ db }) =>
        listAccountAlerts(db, await findAccountId(db, account)),
      );
      printList(found.map(toJson), { none: 'Nothing has fired.', toColumns }, options);
    });

  alerts
    .command('explain <domain>')
    .addArgument(new Argument('<type>', TYPES.join(', ')).argParser(parseType))
    .description('Say why an alert is open, or what it needs to fire.')
    .action(async (domain: string, type: string, options: OutputOptions) => {
      const explained = await withStore(async (store) =>
        explain(store, await findDomainId(store.db, domain), type),
      );
      if (options.json) printJson(explained);
      else printText(explained.explanation);
    });
}

/** An alert type by its name, with or without the prefix `alert.`. */
function parseType(text: string): string {
  const found = TYPES.find((type) => type === text || type === `alert.${text}`);
  if (found === undefined) throw new InvalidArgumentError(`It is one of ${TYPES.join(', ')}.`);
  return found;
}

/** Evaluates domains with the configured thresholds. */
export function evaluateNow(store: Store, domainIds: readonly string[]): Promise<Evaluated> {
  const thresholds = readConfig(process.env).alertThresholds;
  return evaluate({ store, thresholds, now: () => new Date() }, domainIds);
}

async function explain({ db, reader }: Store, domainId: string, type: string) {
  const thresholds: Thresholds = readConfig(process.env).alertThresholds;
  const { name, status } = await findOwnedDomain(db, domainId);
  const domain = await findFacts(reader, { domainId, now: toInstant(new Date()), thresholds });
  const rule = RULES.find((r) => r.type === type);
  if (rule === undefined) throw new Failure('not_found', `There is no alert type ${type}.`);
  const said = { domain: name, type };
  if (domain === undefined)
    return {
      ...said,
      open: false,
      explanation: [`${name} is ${status}: no alert fires for it.`],
    };
  const open = domain.facts.alerts.some((alert) => alert.type === type && alert.isOpen);
  return { ...said, open, explanation: explainRule(rule, domain.facts, thresholds) };
}

function toJson({ context, ...alert }: AlertOfAccount) {
  return { ...alert, context: JSON.parse(context) };
}

function toColumns({ domain, type, fired_at, resolved_at }: ReturnType<typeof toJson>) {
  return {
    domain,
    type: type.replace(/^alert\./, ''),
    'fired (UTC)': toShortTime(fired_at),
    'resolved (UTC)': toShortTime(resolved_at),
  };
}
