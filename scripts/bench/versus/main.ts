/**
 * The CPU time of another version of the product and of this one, measured in turn: intake, lists, and pages for people.
 * `npm run bench -- versus <folder of the other checkout> [text of what is measured]`. `BENCH_FOLDER` keeps the databases.
 */
import { print } from '../print.ts';
import { versusIntake } from './intake.ts';
import { versusLists, versusListsOnPostgres } from './lists.ts';
import { versusPages } from './pages.ts';
import { toVersions, withFilled } from './versions.ts';

export async function benchVersus([other = '', wanted = '']: readonly string[]): Promise<void> {
  const versions = toVersions(other);
  print(`\nthe least CPU of several rounds, before and after; before is ${other}`);
  await withFilled(async (open) => {
    await versusIntake(versions, wanted);
    await versusLists(versions, { open, wanted });
    await versusPages(versions, { open, wanted });
  });
  await versusListsOnPostgres(versions, wanted);
}
