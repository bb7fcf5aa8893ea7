import type { Command } from 'commander';
import { toInstant } from '../domain/instant.ts';
import {
  type DomainRow,
  insertDomain,
  listAllDomains,
  updateDomainStatus,
} from '../store/accounts/domains.ts';
import { listRelatedDomains, type RelatedDomain } from '../store/accounts/related-domains.ts';
import { type OutputOptions, printList, printOne, tell } from './output.ts';
import { withStore } from './with-store.ts';

export function addDomainCommands(domain: Command): void {
  domain
    .command('add <account-id> <name>')
    .description('Register a domain, and claim the reports that came for it before.')
    .action(async (accountId: string, name: string, options: OutputOptions) => {
      const now = toInstant(new Date());
      await withStore(async ({ db }) => {
        const added = await insertDomain(db, { accountId, name, now });
        printOne(toOutput(added), options);
        for (const other of await listRelatedDomains(db, accountId, added.name)) warn(other);
      });
    });

  domain
    .command('list <account-id>')
    .description('List an account’s domains, paused ones too.')
    .action(async (accountId: string, options: OutputOptions) => {
      const domains = await withStore(({ db }) => listAllDomains(db, accountId));
      const none = 'The account has no domain yet: plumbline domain add <account-id> <name>';
      printList(domains.map(toOutput), none, options);
    });

  for (const [verb, status] of [
    ['pause', 'paused'],
    ['resume', 'active'],
  ] as const) {
    domain
      .command(`${verb} <domain-id>`)
      .description(`Make a domain ${status}.`)
      .action(async (id: string, options: OutputOptions) => {
        const now = toInstant(new Date());
        const changed = await withStore(({ db }) => updateDomainStatus(db, id, status, now));
        printOne(toOutput(changed), options);
      });
  }
}

/** Reports of a subdomain without a DMARC record of its own go to the owner of its parent. */
function warn({ name, accountId, relation }: RelatedDomain): void {
  tell(`Warning: the ${relation} ${name} belongs to another account, ${accountId}.`);
}

function toOutput({ id, name, status }: DomainRow) {
  return { id, domain: name, status };
}
