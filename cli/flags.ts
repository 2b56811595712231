/**
 * How a body is written as flags, and what flags are called; without the description, so that the dashboard can show a
 * call as a command. `cli/fields.ts` reads them by it.
 */

const secret = /(^|_)(password|secret|token|recovery_codes?)$/;

/**
 * What lets somebody in: asked for where nobody sees it, and never in a command or in code that is shown. A code is that of a
 * second factor, but where coupons are made: theirs is given away.
 */
export function isSecret(name: string, path: string): boolean {
  return secret.test(name) || (/^codes?$/.test(name) && !/\/coupons\b/.test(path));
}

/** What holds a file on the wire. */
export const fileField = 'content_base64';

/** `['auto_backup', 'hour']` is `auto-backup.hour`; steps into a list are not named. */
export function flagOf(path: readonly string[]): string {
  return path
    .filter((step) => step !== '[]')
    .map((step) => (step === fileField ? 'file' : step))
    .map((step) => step.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`))
    .join('.');
}

/** What is sent to a path of the description, as words of a command line, not yet quoted for a shell. */
export function wordsOfBody(body: unknown, to: string): string[] {
  return isRecord(body)
    ? Object.entries(body).flatMap(([name, value]) => wordsOfField([name], value, to))
    : [];
}

function wordsOfField(path: readonly string[], value: unknown, to: string): string[] {
  const flag = `--${flagOf(path)}`;
  if (value === undefined) return [];
  if (value === null || value === false) return [`--no-${flagOf(path)}`];
  if (value === true || isSecret(path.at(-1) ?? '', to)) return [flag];
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${flag}=`];
    const [only] = value;
    if (value.length === 1 && isPlain(only)) return wordsOfField([...path, '[]'], only, to);
    return value.flatMap((each) => wordsOfValue(flag, isRecord(each) ? JSON.stringify(each) : String(each)));
  }
  if (isPlain(value))
    return Object.entries(value).flatMap(([name, inner]) => wordsOfField([...path, name], inner, to));
  return wordsOfValue(flag, isRecord(value) ? JSON.stringify(value) : String(value));
}

/** What begins with a minus would look like a flag. */
function wordsOfValue(flag: string, value: string): string[] {
  return value.startsWith('-') ? [`${flag}=${value}`] : [flag, value];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether it can be said field by field: there is something in it. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.keys(value).length > 0;
}
