import { argumentsOf, type Change } from './oasdiff.ts';

/** How the changelog has to name an addition. */
type ToNames = (change: Change) => readonly string[];

/**
 * What decision 1.16 allows within `/v1/external`, by oasdiff's ids; whatever is not listed breaks somebody.
 * oasdiff itself lets pass much that breaks a generated client: another operationId, tag, schema name or
 * default, an optional field or an error status that goes away.
 */
export const ADDITIONS: Readonly<Record<string, ToNames>> = {
  'endpoint-added': ({ path = '' }) => [path],
  'endpoint-deprecated-with-sunset': nameOperation,
  // Once its sunset is over, an operation may go.
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

function nameOperation({ operationId = '' }: Change): readonly string[] {
  return [operationId];
}

/** The change's arguments at these places; of a path to a property or a schema the last part. */
export function nameArguments(...places: number[]): ToNames {
  return (change) => places.map((place) => argumentsOf(change)[place]?.split('/').at(-1) ?? '');
}
