import { findFeedVersion, readFeed } from '../store/feed/feed.ts';
import { feedList } from '../store/lists/changes.ts';
import { toRecords } from './list-report-records.ts';
import type { Handler } from './operation.ts';

export const listChanges = (({ accountId, query: { after = 'start', limit, include } }) => {
  const page = { accountId, limit, toRecords: include && toRecords };
  return {
    feed: {
      id: feedList(accountId),
      parameter: 'after',
      cursor: after,
      findVersion: (reader, start) => findFeedVersion(reader, { ...page, start }),
      read: (reader, start) => readFeed(reader, { ...page, start }),
    },
  };
}) satisfies Handler<'listChanges'>;
