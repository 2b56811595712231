/** How a command ends: what it says, and with which code. They are a promise to scripts; `docs/cli.md` lists them. */
import { ApiError, UnreachableError } from '../client/index.ts';
import { shown } from './shown.ts';

export const exits = { done: 0, refused: 1, usage: 2, unreachable: 3, failed: 4, interrupted: 130 } as const;

/** What was typed cannot be understood; the message says how it is written. */
export class UsageError extends Error {}

/** Nothing like that is there, or too many are. */
export class NotFoundError extends Error {}

/** What was waited for has ended badly. */
export class FailedError extends Error {}

/** Nobody knows whether it was done; sent again with its key, it is not done twice. */
export class PerhapsDoneError extends Error {
  override readonly cause: ApiError | UnreachableError;
  readonly key: string;

  constructor(cause: ApiError | UnreachableError, key: string) {
    super(cause.message, { cause });
    this.cause = cause;
    this.key = key;
  }
}

/** The sentences of a failure, for standard error, and the code to end with. */
export function tell(error: unknown, program: string): { lines: string[]; exit: number } {
  if (error instanceof PerhapsDoneError) {
    const { lines } = tell(error.cause, program);
    const advice = `Perhaps it was done. Repeat it with --idempotency-key ${shown(error.key)} and nothing is done twice.`;
    return { lines: [...lines, advice], exit: exits.unreachable };
  }
  if (error instanceof ApiError)
    return {
      lines: [
        shown(error.message),
        ...error.details.map(({ field, message }) => `  ${shown(field)}: ${shown(message)}`),
        ...hints(error, program),
        `  code ${shown(error.code)}, request ${shown(error.requestId)}`,
      ],
      exit: error.status >= 500 ? exits.unreachable : exits.refused,
    };
  if (error instanceof UnreachableError)
    return { lines: [`${shown(error.message)}${reasonOf(error)}.`], exit: exits.unreachable };
  if (error instanceof UsageError) return { lines: [shown(error.message, true)], exit: exits.usage };
  if (error instanceof NotFoundError) return { lines: [shown(error.message, true)], exit: exits.refused };
  if (error instanceof FailedError) return { lines: [shown(error.message)], exit: exits.failed };
  throw error;
}

function hints({ code, retryAfter }: ApiError, program: string): string[] {
  if (code === 'organization_required' || code === 'organization_ambiguous')
    return [`  Name one with --organization; "${program} organizations list" shows yours.`];
  if (code === 'unauthorized' || code === 'unauthenticated')
    return [`  "${program} login" keeps an API key; or set INNKEEPER_API_KEY.`];
  if (code === 'precondition_failed') return ['  It was changed since you read it. Read it again.'];
  return retryAfter === null ? [] : [`  Try again in ${retryAfter} s.`];
}

/**
 * Why nobody answered. The system's own words say where; what else `fetch` says may quote a header, and with it the key: of
 * that only the code is told.
 */
function reasonOf({ status, cause }: UnreachableError): string {
  if (status !== null) return status < 400 ? ', which is no answer of the API' : '';
  const deeper = cause instanceof Error ? (cause.cause ?? cause) : undefined;
  const { code, syscall, message } = (deeper ?? {}) as Partial<NodeJS.ErrnoException>;
  if (message === 'unexpected redirect') return `: ${message}`;
  if (code === undefined) return '';
  return `: ${shown(syscall !== undefined && message ? message : code)}`;
}
