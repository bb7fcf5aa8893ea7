import { Argument, type Command, InvalidArgumentError } from 'commander';
import { findFacts } from '../alerts/alert-facts.ts';
import { type Evaluated, evaluate } from '../alerts/evaluate.ts';
import { readConfig } from '../config/config.ts';
import { type AnyAlertRule, RULES } from '../domain/alerts/registry.ts';
import { explainRule } from '../domain/alerts/rule.ts';
import { toInstant } from '../domain/instant.ts';
import { type AlertOfAccount, listAccountAlerts } from '../store/alerts/alerts.ts';
import { type DomainRow, listWatchedDomainIds } from '../store/domains/domains.ts';
import { findNamedDomain } from '../store/domains/find-by-name.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { Store } from '../store/engine/store.ts';
import {
  type OutputOptions,
  printList,
  printOne,
  printResult,
  toShortTime,
} from './output/output.ts';
import { withAccount, withStore } from './with-store.ts';

const TYPES = RULES.map(({ type }) => type);

export function define(alerts: Command): void {
  alerts
    .command('evaluate')
    .description('Fire and resolve alerts now, for all active domains or for one.')
    .option('--domain <domain>', 'only this domain, by its name or id')
    .action(async ({ domain, ...options }: { domain?: string } & OutputOptions) => {
      const evaluated = await withStore(async (store) =>
        evaluateNow(
          store,
          domain === undefined
            ? await listWatchedDomainIds(store.db)
            : [(await findNamedDomain(store.db, domain)).id],
        ),
      );
      printOne(evaluated, options);
    });

  alerts
    .command('list <account>')
    .description('List an account’s alerts, the newest 200.')
    .action(async (account: string, options: OutputOptions) => {
      const found = await withAccount(account, listAccountAlerts);
      printList(found.map(toJson), { none: 'Nothing has fired.', toColumns }, options);
    });

  alerts
    .command('explain <domain>')
    .addArgument(new Argument('<type>', TYPES.join(', ')).argParser(parseRule))
    .description('Say why an alert is open, or what it needs to fire.')
    .action(async (domain: string, rule: AnyAlertRule, options: OutputOptions) => {
      const explained = await withStore(async (store) =>
        explain(store.reader, await findNamedDomain(store.db, domain), rule),
      );
      printResult(explained, explained.explanation, options);
    });
}

function parseRule(text: string): AnyAlertRule {
  const found = RULES.find(({ type }) => type === text || type === `alert.${text}`);
  if (found === undefined) throw new InvalidArgumentError(`It is one of ${TYPES.join(', ')}.`);
  return found;
}

export function evaluateNow(store: Store, domainIds: readonly string[]): Promise<Evaluated> {
  const { alertThresholds: thresholds } = readConfig(process.env);
  return evaluate({ store, thresholds, now: () => new Date() }, domainIds);
}

async function explain(
  reader: Reader,
  { id: domainId, name, status }: DomainRow,
  rule: AnyAlertRule,
) {
  const { type } = rule;
  const { alertThresholds: thresholds } = readConfig(process.env);
  const now = toInstant(new Date());
  const { domain } = await findFacts(reader, { domainId, now, thresholds, withReceipts: true });
  const open =
    domain?.views[0].alerts.some((alert) => alert.type === type && alert.isOpen) ?? false;
  const explanation =
    domain === undefined
      ? [`${name} is ${status}: no alert fires for it.`]
      : explainRule(rule, domain.views[0], thresholds);
  return { domain: name, type, open, explanation };
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
