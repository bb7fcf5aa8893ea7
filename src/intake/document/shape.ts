import { MAX_NAME_CHARS, MAX_TEXT_CHARS } from '../limits.ts';

/** The children that are kept of an element, by local name, and its text. */
export interface Shape {
  readonly children: ReadonlyMap<string, Shape>;
  /** Characters of its text; 0 when none of it is kept. */
  readonly maxChars: number;
  /** Whether its parent may have several. */
  readonly isList: boolean;
}

/** A name, a number or a keyword of the standards. */
export const LEAF: Shape = {
  children: new Map(),
  maxChars: MAX_NAME_CHARS,
  isList: false,
};
/** Text written by a person. */
const TEXT: Shape = { ...LEAF, maxChars: MAX_TEXT_CHARS };

const parent = (children: Readonly<Record<string, Shape>>, maxChars = 0): Shape => ({
  children: new Map(Object.entries(children)),
  maxChars,
  isList: false,
});

const list = (shape: Shape): Shape => ({ ...shape, isList: true });

/** Leaves by their names, which are separated by spaces. */
const leaves = (names: string): Readonly<Record<string, Shape>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, LEAF]));

const DATES = parent(leaves('begin end'));
const IDENTIFIERS = parent(leaves('header_from envelope_from envelope_to'));

const RECORD = parent({
  row: parent({
    ...leaves('source_ip count'),
    policy_evaluated: parent({
      ...leaves('disposition dkim spf'),
      // Some reporters write the type as the text of the element itself.
      reason: list(parent({ type: LEAF, comment: TEXT }, MAX_NAME_CHARS)),
    }),
  }),
  identifiers: IDENTIFIERS,
  identities: IDENTIFIERS,
  auth_results: parent({
    dkim: list(parent({ ...leaves('domain selector result'), human_result: TEXT })),
    spf: list(parent({ ...leaves('domain scope result'), human_result: TEXT })),
  }),
});

/**
 * What is kept of a report: RFC 7489 appendix C and RFC 9990 together, with the misspelt names that are accepted. Any
 * other element counts against the limits and is ignored (RFC 9990: unknown elements SHOULD be ignored).
 */
export const FEEDBACK = parent({
  version: LEAF,
  report_metadata: parent({
    ...leaves('org_name email report_id generator'),
    extra_contact_info: TEXT,
    error: list(TEXT),
    date_range: DATES,
    data_range: DATES,
  }),
  policy_published: parent(leaves('domain p sp np adkim aspf pct fo testing discovery_method')),
  record: list(RECORD),
});
