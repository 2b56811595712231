import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { hintFor } from './misspelt.ts';
import { mostProblems, type Problem } from './problem.ts';
import { schemaMarks } from './schema.ts';
import { wordsFor } from './wording.ts';

/** Checks one part of a request and adds what is wrong to `problems`. Fills in the schema's defaults. */
export type Validator = (value: unknown, bytes: number, problems: Problem[]) => void;

// Finding every error of a huge body costs more than reading it, so above this size the first one is enough.
// Whatever somebody writes by hand is far smaller.
const thoroughUpToBytes = 16_384;

const addFormats = formats as unknown as (ajv: Ajv) => void;

function requestAjv(allErrors: boolean): Ajv {
  const ajv = new Ajv({
    allErrors,
    verbose: true,
    useDefaults: true,
    coerceTypes: false,
    removeAdditional: false,
    allowUnionTypes: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
  });
  addFormats(ajv);
  for (const mark of ['x-message', ...schemaMarks]) ajv.addKeyword(mark);
  return ajv;
}

const first = requestAjv(false);
const thorough = requestAjv(true);

/**
 * Checks one part of a request by its schema. Compiled when the first request of an operation comes, as what writes its answers
 * (`serializers.ts`): that of all operations was two fifths of a start.
 */
export function validatorFor(part: Problem['part'], schema: TSchema): Validator {
  let isValid: ValidateFunction | null = null;
  let explain: ValidateFunction | null = null;
  return (value, bytes, problems) => {
    isValid ??= first.compile(schema);
    if (isValid(value)) return;
    if (bytes > thoroughUpToBytes) {
      addProblems(part, isValid.errors ?? [], problems);
      return;
    }
    explain ??= thorough.compile(schema);
    explain(value);
    addProblems(part, explain.errors ?? [], problems);
  };
}

function addProblems(part: Problem['part'], errors: ErrorObject[], problems: Problem[]): void {
  const unions = errors.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf');
  for (const error of errors) {
    if (problems.length >= mostProblems) return;
    if (unions.some((union) => union !== error && belongsTo(error, union))) continue;
    const field = fieldOf(error) || part;
    if (problems.some((known) => known.part === part && known.field === field)) continue;
    problems.push({
      part,
      field,
      message: wordsFor(part, error) + hintFor(part, error, errors),
      rule: error.keyword,
    });
  }
}

/** Whether an error only tells why one branch of a union did not fit. */
function belongsTo(error: ErrorObject, union: ErrorObject): boolean {
  return (
    error.schemaPath.startsWith(`${union.schemaPath}/`) && error.instancePath.startsWith(union.instancePath)
  );
}

/** `/products/0/id` → `products[0].id` */
function fieldOf(error: ErrorObject): string {
  let field = '';
  for (const step of error.instancePath.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (/^\d+$/.test(name)) field += `[${name}]`;
    else field += field === '' ? name : `.${name}`;
  }
  const last: unknown = error.params.missingProperty ?? error.params.additionalProperty;
  if (typeof last !== 'string') return field;
  return field === '' ? last : `${field}.${last}`;
}
