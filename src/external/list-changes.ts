import { feedList, findFeedVersion, readFeed } from '../store/feed/feed.ts';
import type { Handler } from './operation.ts';

export const listChanges = (({ accountId, query: { after = 'start', limit } }) => ({
  feed: {
    id: feedList(accountId),
    parameter: 'after',
    cursor: after,
    findVersion: (reader, start) => findFeedVersion(reader, { accountId, start, limit }),
    read: (reader, start) => readFeed(reader, { accountId, start, limit }),
  },
})) satisfies Handler<'listChanges'>;
