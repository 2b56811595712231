import { AppError, fail } from '../errors.ts';

const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const connectionMessages =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|does not answer|Query read timeout|Cannot use a pool after|is not currently accepting connections/;

/** Nothing can be written there: it was handed over, or whoever leads to the primary has not noticed yet. */
const standbyCode = '25006';

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * Turns a failure of the database itself into 503, so that no caller ever sees a half answer as a bug of ours:
 * lost connections (class 08), shutdown and start (57P), a standby where the primary should be (25006), a process that hung in a transaction (25P03), too many connections (53300), full disk (53100), a database that
 * its operator lets nobody into.
 * A lock that somebody holds for too long is 409. Everything else, constraint violations included, is returned as it is.
 */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (code === '53100' || code === 'ENOSPC') return fail('storage_full', { cause: error, retryAfterS: 5 });
  // A write that the server could not store comes back as 58030 (I/O error) or, for its log, as a panic.
  if (code === '58030') return fail('storage_full', { cause: error, retryAfterS: 5 });
  if (code === '55P03') return fail('busy', { cause: error, retryAfterS: 1 });
  const isDown =
    code.startsWith('08') ||
    code.startsWith('57P') ||
    code.startsWith('53') ||
    code === '25P03' ||
    code === standbyCode ||
    connectionCodes.has(code) ||
    (error instanceof Error && connectionMessages.test(error.message));
  return isDown ? fail('unavailable', { cause: error, retryAfterS: 2 }) : error;
}

/** Whether a connection leads to a standby, and is of no use any more. */
export function leadsToStandby(error: unknown): boolean {
  return codeOf(error) === standbyCode;
}

/** Deadlock or serialization failure: the transaction did nothing and may simply run again. */
export function isWorthRepeating(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/** Whether PostgreSQL refused a statement for what it is (no such function, no permission, not supported), and would always. */
export function isRefused(error: unknown): boolean {
  const code = codeOf(error);
  return code.startsWith('42') || code.startsWith('0A') || code === '55000';
}

/** Whether a statement failed only because one before it, in the same transaction, had failed. */
export function isAftermath(error: unknown): boolean {
  return codeOf(error) === '25P02';
}

/** Whether an insert met a unique constraint, by the constraint's name. */
export function isDuplicate(error: unknown, constraint: string): boolean {
  return (
    codeOf(error) === '23505' &&
    error instanceof Error &&
    'constraint' in error &&
    error.constraint === constraint
  );
}
