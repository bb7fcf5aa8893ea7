import type { Command } from 'commander';
import { parseDomainName } from '../../domain/domain-name.ts';
import { ignoreProposal, listProposals, type Proposal } from '../../store/domains/proposals.ts';
import { type OutputOptions, printList, printOne, toShortTime } from '../output/output.ts';
import { withAccount } from '../with-store.ts';

/** Domains whose DMARC record names an account's address (decision 77). `domain add` accepts one. */
export function defineProposals(domain: Command): void {
  domain
    .command('proposals <account>')
    .description('List domains whose records name the account’s address: add them or ignore them.')
    .action(async (account: string, options: OutputOptions) => {
      const proposals = await withAccount(account, listProposals);
      printList(proposals.map(toOutput), { none: 'Nothing is proposed.', toColumns }, options);
    });

  domain
    .command('ignore <account> <name>')
    .description('Propose a domain, and others of its organisational domain, no more.')
    .action(async (account: string, given: string, options: OutputOptions) => {
      const name = parseDomainName(given) ?? given;
      await withAccount(account, (db, accountId) => ignoreProposal(db, { accountId, name }));
      printOne({ domain: name, ignored: true }, options);
    });
}

function toOutput({ name, proposedAt, ignoredAt }: Proposal) {
  return { domain: name, proposed_at: proposedAt, ignored_at: ignoredAt };
}

function toColumns({ domain, proposed_at, ignored_at }: ReturnType<typeof toOutput>) {
  return {
    domain,
    'proposed (UTC)': toShortTime(proposed_at),
    'ignored (UTC)': toShortTime(ignored_at),
  };
}
