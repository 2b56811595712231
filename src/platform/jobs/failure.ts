import { AppError } from '../errors.ts';
import type { Failure } from './saga.ts';

const longestMessage = 2_000;
const longestCode = 100;
const largestResult = 1_000_000;

/** What a thrown value says, as text that the database can store whatever it was. */
export function describe(error: unknown): { code: string; message: string } {
  if (error instanceof AppError)
    return { code: error.code, message: storable(error.message, longestMessage) };
  if (!(error instanceof Error)) return { code: 'failed', message: storable(asText(error), longestMessage) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
  return { code: storable(code, longestCode), message: storable(asText(error.message), longestMessage) };
}

/** PostgreSQL keeps no NUL and no half of a surrogate pair, and nobody reads a megabyte. */
function storable(text: string, longest: number): string {
  const whole = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  return whole.replaceAll('\0', '').toWellFormed();
}

function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'something was thrown that has no words';
  }
}

/**
 * A step's result as it will be read after a crash. What cannot be written down, or would come back as something
 * else, fails the step for good: trying again would not change it.
 */
export function asResult(result: unknown): object {
  try {
    const found = findUnwritable(result, 'its result');
    if (found !== null) throw new TypeError(found);
    const text = JSON.stringify(result);
    if (text.length > largestResult) throw new TypeError(`its result has ${text.length} characters`);
    return JSON.parse(text) as object;
  } catch (error) {
    const message = `what the step found out cannot be written down: ${describe(error).message}`;
    throw Object.assign(new Error(message), { permanent: true, code: 'unwritable_result' });
  }
}

/** The first part of a value that JSON or the database would not give back as it is, in words. */
function findUnwritable(value: unknown, where: string): string | null {
  if (value === null || value === undefined || typeof value === 'boolean') return null;
  if (typeof value === 'string')
    return value === storable(value, Infinity) ? null : `${where} has characters that no database keeps`;
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${where} is ${value}`;
  if (typeof value !== 'object') return `${where} is a ${typeof value}`;
  const prototype: unknown = Object.getPrototypeOf(value);
  const plain = Array.isArray(value) || prototype === Object.prototype || prototype === null;
  if (!plain) return `${where} is a ${value.constructor?.name ?? 'thing'}`;
  for (const [key, part] of Object.entries(value)) {
    const found = findUnwritable(key, `a name in ${where}`) ?? findUnwritable(part, `${where}.${key}`);
    if (found !== null) return found;
  }
  return null;
}

/** Whether trying again cannot help. */
export function isPermanent(error: unknown): boolean {
  return error instanceof Error && 'permanent' in error && error.permanent === true;
}

/** Whether it says that what a job is for is wanted no more. */
export function isUnwanted(error: unknown): boolean {
  return error instanceof Error && 'unwanted' in error && error.unwanted === true;
}

/**
 * The database itself is away or full, or an engine that machines run on cannot be reached (`waits`): that ends with it, and says
 * nothing about the job.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof Error && 'waits' in error && error.waits === true) return true;
  return error instanceof AppError && (error.code === 'unavailable' || error.code === 'storage_full');
}

/** How soon at the latest it wants to be tried again: a look that costs next to nothing, at what people wait for. Null: it does not say. */
export function soonMsOf(error: unknown): number | null {
  const soon = error instanceof Error && 'againWithinMs' in error ? error.againWithinMs : null;
  return typeof soon === 'number' ? soon : null;
}

/** Why a job that is on its way back was turned. */
export function failureOf(job: {
  error_step: string | null;
  error_code: string | null;
  error_message: string | null;
}): Failure {
  return { step: job.error_step ?? '', code: job.error_code ?? 'failed', message: job.error_message ?? '' };
}
