interface Load {
  /** At least. */
  readonly requests: number;
  /** Whether enough has happened meanwhile; until then the clients go on. */
  readonly isEnough?: () => boolean;
  readonly clients: number;
  /** Makes a request, and says how it ended. */
  readonly ask: () => Promise<string>;
}

/** Clients that each ask as soon as they have an answer. */
export function askRepeatedly({ requests, isEnough = () => true, clients, ask }: Load) {
  const outcomes: Record<string, number> = {};
  let [asked, done] = [0, 0];
  const client = async () => {
    while (asked++ < requests || !isEnough()) {
      const outcome = await ask();
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      done += 1;
    }
  };
  return {
    isOver: () => done >= requests && isEnough(),
    outcomes: Promise.all(Array.from({ length: clients }, client)).then(() => outcomes),
  };
}
