import type { ErrorObject } from 'ajv';
import type { Problem } from './problem.ts';

const typeWords: Record<string, string> = {
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const formatWords: Record<string, string> = {
  'date-time': 'a date and time such as 2026-01-31T12:00:00.000Z',
  date: 'a date such as 2026-01-31',
  email: 'an e-mail address',
  uuid: 'a UUID',
  uri: 'an absolute URL',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  hostname: 'a hostname',
};

/** What is wrong with a value, in words that follow its name: `must be an integer, not a string`. */
export function wordsFor(part: Problem['part'], error: ErrorObject): string {
  const { params, data } = error;
  const own = (error.parentSchema as { 'x-message'?: string } | undefined)?.['x-message'];
  switch (error.keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
      return 'is not a field of this request';
    case 'type':
      return `must be ${alternatives(params.type)}${found(part, data)}${unquoted(params.type, data)}`;
    case 'enum':
      return own ?? `must be one of ${listed(params.allowedValues)}`;
    case 'const':
      return `must be ${String(params.allowedValue)}`;
    case 'anyOf':
    case 'oneOf':
      return literalsOf(error) ?? own ?? 'is none of the forms that are allowed here';
    case 'minimum':
    case 'exclusiveMinimum':
    case 'maximum':
    case 'exclusiveMaximum':
      return `must be ${boundWords[params.comparison as string] ?? params.comparison} ${params.limit}`;
    case 'multipleOf':
      return `must be a multiple of ${params.multipleOf}`;
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`;
    case 'maxLength':
      return `must have at most ${params.limit} characters`;
    case 'minItems':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} entries`;
    case 'maxItems':
      return `must have at most ${params.limit} entries`;
    case 'minProperties':
      return params.limit === 1
        ? 'must name at least one field'
        : `must have at least ${params.limit} fields`;
    case 'maxProperties':
      return `must have at most ${params.limit} fields`;
    case 'uniqueItems':
      return 'must not have equal entries';
    case 'pattern':
      return own ?? 'has a form or characters that are not allowed here';
    case 'format':
      return own ?? `must be ${formatWords[params.format as string] ?? `a ${params.format}`}`;
    default:
      return own ?? error.message ?? 'is not valid';
  }
}

const boundWords: Record<string, string> = {
  '>=': 'at least',
  '>': 'more than',
  '<=': 'at most',
  '<': 'less than',
};

/** Which type was sent instead. All that a path or a query holds is text, so there it says nothing. */
function found(part: Problem['part'], data: unknown): string {
  return part === 'body' ? `, not ${kindOf(data)}` : '';
}

/** What to do about a value that is right but for its quotes, or for its size. */
function unquoted(wanted: string | string[], data: unknown): string {
  if (typeof data !== 'string') return '';
  const types = [wanted].flat();
  if (types.includes('boolean') && (data === 'true' || data === 'false'))
    return `: send ${data} without quotes`;
  if (!types.includes('integer') && !types.includes('number')) return '';
  if (/^-?(0|[1-9]\d{0,14})$/.test(data)) return `: send ${data} without quotes`;
  return /^\d{16,}$/.test(data) ? `, and at most ${Number.MAX_SAFE_INTEGER}` : '';
}

/** The values of a union of literals, which Ajv reports as one error for each of them. */
function literalsOf(error: ErrorObject): string | null {
  const branches: unknown = error.schema;
  if (!Array.isArray(branches)) return null;
  const values: unknown[] = [];
  for (const branch of branches as Record<string, unknown>[]) {
    if (branch.type === 'null') values.push(null);
    else if ('const' in branch) values.push(branch.const);
    else return null;
  }
  return `must be one of ${listed(values)}`;
}

function listed(values: unknown[]): string {
  return values.map((value) => String(value)).join(', ');
}

function alternatives(types: string | string[]): string {
  return [types]
    .flat()
    .map((type) => typeWords[type] ?? type)
    .join(' or ');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'absent';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number with a fraction';
  if (typeof value === 'boolean') return String(value);
  return typeWords[typeof value] ?? typeof value;
}
