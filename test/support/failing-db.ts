import type { KyselyPlugin } from 'kysely';
import type { Db, Tx } from '../../src/store/engine/database.ts';

/** The error of a database that fails: of no kind that the product knows. */
class Broken extends Error {
  constructor() {
    super('The database is broken.');
  }
}

/**
 * A database that works for so many steps and then fails, for good. Steps are the statements of transactions,
 * their commits, the moment after a commit, and reads. `steps` says how many there were.
 */
export function failingDb(db: Db, after: number) {
  const count = { steps: 0 };
  const step = () => {
    count.steps += 1;
    if (count.steps > after) throw new Broken();
  };
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      step();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const failing: Db = {
    selectFrom: ((...args: Parameters<Db['selectFrom']>) => {
      step();
      return db.selectFrom(...args);
    }) as Db['selectFrom'],
    getExecutor: db.getExecutor,
    findShortage: db.findShortage,
    write: async (change) => {
      const result = await db.write(async (tx) => {
        const changed = await change(toFailing(tx, plugin, step));
        step();
        return changed;
      });
      step();
      return result;
    },
  };
  return { db: failing, count };
}

/** Queries that are built pass the plugin; prepared ones are run by `executeQuery`. */
function toFailing(tx: Tx, plugin: KyselyPlugin, step: () => void): Tx {
  const failing = tx.withPlugin(plugin) as Tx;
  return new Proxy(failing, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'executeQuery') return value.bind(target);
      return (...args: unknown[]) => {
        step();
        return value.apply(target, args);
      };
    },
  });
}
