import { Failure } from '../../domain/failure.ts';

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema?: { type?: string; format?: string; minimum?: number; maximum?: number };
}

/** The error that names the wrong parameter and what the contract allows (decision 1.3). */
export function toValidationFailure(
  operation: { parameters?: readonly unknown[] | undefined },
  errors: readonly { instancePath: string }[],
): Failure {
  // instancePath is a JSON pointer into the request: /query/limit, /path/domain_id.
  const [, location, name] = errors[0]?.instancePath.split('/') ?? [];
  const parameter = (operation.parameters as readonly Parameter[] | undefined)?.find(
    (p) => p.in === location && p.name === name,
  );
  if (parameter === undefined) return new Failure('validation_error', 'Invalid request.');
  return new Failure('validation_error', `"${name}" must be ${describe(parameter)}, given once.`);
}

function describe({ schema }: Parameter): string {
  if (schema?.format === 'uuid') return 'a UUID';
  if (schema?.type === 'string') return '"start" or a Plumbline-Cursor of this list';
  const { minimum = 0, maximum } = schema ?? {};
  const range = maximum === undefined ? `of ${minimum} or more` : `from ${minimum} to ${maximum}`;
  return `a whole number ${range}, in decimal digits`;
}
