/** The children that are kept of an element, by local name; of a leaf it is the text. */
export interface Shape {
  readonly children: ReadonlyMap<string, Shape>;
  readonly isLeaf: boolean;
  /** Whether its parent may have several. */
  readonly isList: boolean;
}

export const LEAF: Shape = { children: new Map(), isLeaf: true, isList: false };

const parent = (children: Readonly<Record<string, Shape>>): Shape => ({
  children: new Map(Object.entries(children)),
  isLeaf: false,
  isList: false,
});

const list = (shape: Shape): Shape => ({ ...shape, isList: true });

const leaves = (...names: readonly string[]): Readonly<Record<string, Shape>> =>
  Object.fromEntries(names.map((name) => [name, LEAF]));

const DATES = parent(leaves('begin', 'end'));
const IDENTIFIERS = parent(leaves('header_from', 'envelope_from', 'envelope_to'));

const RECORD = parent({
  row: parent({
    ...leaves('source_ip', 'count'),
    policy_evaluated: parent({
      ...leaves('disposition', 'dkim', 'spf'),
      reason: list(parent(leaves('type', 'comment'))),
    }),
  }),
  identifiers: IDENTIFIERS,
  identities: IDENTIFIERS,
  auth_results: parent({
    dkim: list(parent(leaves('domain', 'selector', 'result', 'human_result'))),
    spf: list(parent(leaves('domain', 'scope', 'result', 'human_result'))),
  }),
});

/**
 * What is kept of a report: RFC 7489 appendix C and RFC 9990 in one, with the misspelt names that
 * are read as well. Everything else may be there, is counted against the ceilings, and is ignored
 * (RFC 9990: unknown elements SHOULD be ignored).
 */
export const FEEDBACK = parent({
  version: LEAF,
  report_metadata: parent({
    ...leaves('org_name', 'email', 'extra_contact_info', 'report_id', 'generator'),
    error: list(LEAF),
    date_range: DATES,
    data_range: DATES,
  }),
  policy_published: parent(
    leaves(
      ...['domain', 'p', 'sp', 'np', 'adkim', 'aspf', 'pct', 'fo', 'testing', 'discovery_method'],
    ),
  ),
  record: list(RECORD),
});
