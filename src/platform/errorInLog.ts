/** Of an error, what a log line holds: see decision 0045. */

const longestMessage = 2_000;
const longestStack = 6_000;
const mostCauses = 5;

/** Names that PostgreSQL's errors carry; all else they carry may hold what a customer wrote. */
const databaseNames = ['severity', 'schema', 'table', 'column', 'constraint', 'routine'] as const;
/** What systems say of calls that failed, and what our own errors say. */
const plainNames = ['errno', 'syscall', 'permanent', 'status', 'responseCode'] as const;

/** Serializer for the log. What is no error goes through as it is. */
export function errorInLog(error: unknown): unknown {
  return error instanceof Error ? partsOf(error, 0) : error;
}

function partsOf(error: Error, depth: number): Record<string, unknown> {
  const parts: Record<string, unknown> = { type: error.name, message: messageOf(error) };
  const given = error as unknown as Record<string, unknown>;
  if (typeof given.code === 'string') parts.code = given.code;
  for (const name of isFromDatabase(error) ? databaseNames : plainNames) {
    const value = given[name];
    if (['string', 'number', 'boolean'].includes(typeof value)) parts[name] = value;
  }
  // Which transactions waited for each other, by their numbers.
  if (given.code === '40P01' && typeof given.detail === 'string')
    parts.detail = bounded(given.detail, longestMessage);
  parts.stack = stackOf(error);
  if (error.cause !== undefined && depth < mostCauses) {
    parts.cause =
      error.cause instanceof Error ? partsOf(error.cause, depth + 1) : bounded(String(error.cause), 200);
  }
  if (error instanceof AggregateError && depth < mostCauses) {
    parts.errors = error.errors
      .slice(0, mostCauses)
      .map((each) => (each instanceof Error ? partsOf(each, depth + 1) : typeof each));
  }
  return parts;
}

/** An error's message, bounded, without the values that PostgreSQL quotes where it could not read one (class 22). */
export function messageOf(error: Error): string {
  const isData = isFromDatabase(error) && String((error as Error & { code?: string }).code).startsWith('22');
  const message = isData ? error.message.replaceAll(/".*"/gs, '"[redacted]"') : error.message;
  return bounded(message, longestMessage);
}

/** Where it was thrown; the message at its top is told apart. */
function stackOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return bounded(frames.join('\n'), longestStack);
}

/** `pg` gives its errors the five letters of SQLSTATE and a severity. */
function isFromDatabase(error: Error): boolean {
  return 'severity' in error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code));
}

function bounded(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
