const PREFIX = 'PLUMBLINE_';
/** Read before the others, to find them; and what the samples of the docs export for a client. */
const OTHER_NAMES = ['PLUMBLINE_CONFIG', 'PLUMBLINE_API_KEY', 'PLUMBLINE_API_KEYS'];
/** A name that differs in more characters, or in more than half of them, is not a typing mistake. */
const MAX_DISTANCE = 4;

/** A line for each variable that begins with `PLUMBLINE_` and that nothing reads, with the nearest known name. */
export function listUnknown(env: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  const names = [...known, ...OTHER_NAMES];
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && env[name] !== '' && !names.includes(name),
  );
  return unknown.map((name) => {
    const nearest = findNearest(name, known);
    return `${name}: there is no such variable${nearest === undefined ? '' : `. Is it ${nearest}?`}`;
  });
}

function findNearest(name: string, known: readonly string[]): string | undefined {
  const byDistance = known
    .map((other) => ({ other, distance: countEdits(name, other) }))
    .sort((a, b) => a.distance - b.distance);
  const [nearest] = byDistance;
  const allowed = Math.min(MAX_DISTANCE, (name.length - PREFIX.length) / 2);
  return nearest !== undefined && nearest.distance <= allowed ? nearest.other : undefined;
}

/** How many characters have to be inserted, deleted or replaced to make one text the other (Levenshtein). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, char] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const replaced = (row[j] as number) + (char === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}
