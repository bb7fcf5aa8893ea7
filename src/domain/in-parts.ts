const PART = 100;

/** Work that stops now and then, so that whoever runs it can let others have their turns. */
export type InParts<Found> = Generator<undefined, Found>;

export function* mapInParts<Item, Mapped>(
  items: Iterable<Item>,
  map: (item: Item) => Mapped,
): InParts<Mapped[]> {
  const mapped: Mapped[] = [];
  for (const item of items) {
    mapped.push(map(item));
    if (mapped.length % PART === 0) yield;
  }
  return mapped;
}
