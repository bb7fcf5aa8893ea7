import { PAGES, type Page } from '../pages.ts';
import type { BlockPage } from './blocks.ts';
import { type ApiContract, listOperations } from './contract.ts';
import { toOperationPage, toWebhookPage } from './operation.ts';
import { toOverview } from './overview.ts';

/** The pages of the contract: the list of operations, then each operation and each webhook. */
export function listOperationPages(contract: ApiContract): BlockPage[] {
  const { slug, title, description } = OVERVIEW;
  return [
    toOverview(contract, { slug, title, description }),
    ...listOperations(contract.paths).map((listed) => toOperationPage(contract, listed)),
    ...listOperations(contract['x-webhooks']).map((listed) => toWebhookPage(contract, listed)),
  ];
}

/** Every page of the site, in reading order. */
export function listAllPages(operations: readonly BlockPage[]): Page[] {
  return PAGES.flatMap<Page>((page) => (page === OVERVIEW ? operations : [page]));
}

const OVERVIEW = findOverview();

function findOverview(): Page {
  const page = PAGES.find(({ slug }) => slug === 'operations');
  if (page === undefined) throw new Error('The menu has no page of operations.');
  return page;
}
