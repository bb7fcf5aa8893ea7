import { openFeed } from '../store/feed/feed.ts';
import { feedList } from '../store/lists/changes.ts';
import { toRecords } from './list-report-records.ts';
import type { Handler } from './operation.ts';

export const listChanges = (({ accountId, query: { after = 'start', limit, include } }) => {
  const hasTls = include?.includes('tls');
  const page = { accountId, limit, hasTls, ...(include?.includes('records') && { toRecords }) };
  return {
    feed: {
      id: feedList(accountId),
      parameter: 'after',
      cursor: after,
      open: (reader, start) => openFeed(reader, { ...page, start }),
    },
  };
}) satisfies Handler<'listChanges'>;
