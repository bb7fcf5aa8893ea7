import { WEBHOOK_PATH } from './comparable.ts';
import { argumentsOf, type Change } from './oasdiff.ts';

/** The names with which the changelog has to mention an addition; undefined when this change is a break. */
type ToNames = (change: Change) => readonly string[] | undefined;

/**
 * The changes that the guide to versioning allows within `/v1/external`, by oasdiff's ids. Any other change is
 * breaking. oasdiff itself allows much that breaks a generated client: another operationId, tag, schema name
 * or default, or the removal of an optional field or an error status.
 */
export const ADDITIONS: Readonly<Record<string, ToNames>> = {
  'endpoint-added': ({ path = '' }) => [path.replace(WEBHOOK_PATH, '')],
  'endpoint-deprecated-with-sunset': nameOperation,
  // After its sunset, an operation may be removed.
  'api-path-removed-with-deprecation': nameOperation,
  'api-removed-with-deprecation': nameOperation,

  'new-optional-request-default-parameter-to-existing-path': nameArguments(1),
  'new-optional-request-parameter': nameArguments(1),
  'request-parameter-became-optional': nameArguments(1),
  'request-parameter-enum-value-added': nameArguments(0, 2),
  'request-parameter-max-increased': nameArguments(1),
  'request-parameter-max-length-increased': nameArguments(1),
  'request-parameter-min-decreased': nameArguments(1),
  'request-parameter-min-length-decreased': nameArguments(1),

  'response-header-added': nameArguments(0),
  'response-non-success-status-added': nameArguments(0),
  'response-optional-property-added': nameArguments(0),
  'response-property-became-not-nullable': nameArguments(0),
  'response-property-became-required': nameArguments(0),
  'response-required-property-added': nameArguments(0),
};

/**
 * Changes that oasdiff reports as more than additions, and that correct what the contract says: what is asked
 * and what is answered stay the same.
 */
export const CORRECTIONS: Readonly<Record<string, ToNames>> = {
  // Headers of a deprecated operation, on one that is not deprecated. Only mock servers sent them.
  'optional-response-header-removed': (change) =>
    DEPRECATION.has(argumentsOf(change)[0] ?? '') ? nameArguments(0)(change) : undefined,
  // `limit` is at most 200.
  'request-parameter-type-changed': (change) =>
    argumentsOf(change).join(' ') === 'query limit format none int32' ? ['limit'] : undefined,
};

const DEPRECATION = new Set(['deprecation', 'sunset']);

function nameOperation({ operationId = '' }: Change): readonly string[] {
  return [operationId];
}

/** The change's arguments at these positions; of a path to a property or a schema, the last part. */
function nameArguments(...places: number[]): ToNames {
  return (change) => places.map((place) => argumentsOf(change)[place]?.split('/').at(-1) ?? '');
}
