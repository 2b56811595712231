/**
 * How a body is written as flags, and what flags are called; without the description, so that the dashboard can show a
 * call as a command. `cli/fields.ts` reads them by it.
 */

/** What is asked for where nobody sees it, and never stands in a command. */
const asked = /(^|_)password$|^token$|^recovery_code$/;

export function isAsked(name: string): boolean {
  return asked.test(name);
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

/** A body as words of a command line, not yet quoted for a shell. */
export function wordsOfBody(body: unknown): string[] {
  return isRecord(body) ? Object.entries(body).flatMap(([name, value]) => wordsOfField([name], value)) : [];
}

function wordsOfField(path: readonly string[], value: unknown): string[] {
  const flag = `--${flagOf(path)}`;
  if (value === undefined) return [];
  if (value === null || value === false) return [`--no-${flagOf(path)}`];
  if (value === true || isAsked(path.at(-1) ?? '')) return [flag];
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${flag}=`];
    const [only] = value;
    if (value.length === 1 && isPlain(only)) return wordsOfField([...path, '[]'], only);
    return value.flatMap((each) => wordsOfValue(flag, isRecord(each) ? JSON.stringify(each) : String(each)));
  }
  if (isPlain(value))
    return Object.entries(value).flatMap(([name, inner]) => wordsOfField([...path, name], inner));
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
