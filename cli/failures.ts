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

/** The sentences of a failure, for standard error, and the code to end with. */
export function tell(error: unknown, program: string): { lines: string[]; exit: number } {
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

/** Why nobody answered: the network's own words are in what caused it. */
function reasonOf({ cause }: UnreachableError): string {
  const deeper = cause instanceof Error ? (cause.cause ?? cause) : undefined;
  const code = (deeper as NodeJS.ErrnoException | undefined)?.code;
  const said = deeper instanceof Error && deeper.message !== '' ? deeper.message : undefined;
  return said === undefined && code === undefined ? '' : `: ${shown(said ?? String(code))}`;
}
