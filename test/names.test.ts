import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const EXPORT =
  /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+|\[[^\]]+\]|\{ [^}]+ \})/gm;
/** Each file of `commands/` adds the commands of one noun by it. */
const OF_COMMANDS = 'define';

test('a name is exported by one file of src: a second one would be a second meaning', () => {
  const exported = globSync('**/*.ts', { cwd: SRC }).flatMap((file) =>
    [...readFileSync(`${SRC}${file}`, 'utf8').matchAll(EXPORT)]
      .flatMap(([, names = '']) => names.match(/\w+/g) ?? [])
      .map((name) => ({ name, file })),
  );
  const byName = [...Map.groupBy(exported, ({ name }) => name)];
  const twice = byName.filter(([, files]) => files.length > 1);
  expect(twice.map(([name]) => name)).toEqual([OF_COMMANDS]);
});
