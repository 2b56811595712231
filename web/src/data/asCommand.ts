/** A call as a command of `inn`, loaded when somebody asks for it. Named and written by what the program itself reads. */
import { wordsOfBody } from '../../../cli/flags.ts';
import { wordsOf } from '../../../cli/names.ts';
import { type Call, file, withoutSecrets } from './asCode.ts';

/** For a shell; who asks is what `inn login` keeps. */
export function asCommand({ method, path, given, address, organization, body, upload }: Call): string {
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => quoted(given[name] ?? ''));
  const query = [...new URLSearchParams(address.split('?')[1] ?? '')].map(
    ([name, value]) => [name, value === 'true' || (value === 'false' ? false : value)] as const,
  );
  const about = organization === null ? [] : ['--organization', organization];
  const flags = flagsIn([
    ...(upload === undefined ? [] : ['--file', file]),
    ...wordsOfBody(Object.fromEntries(query), path),
    ...wordsOfBody(withoutSecrets(body, path), path),
    ...about,
  ]);
  return [['inn', ...wordsOf(method, path), ...places].join(' '), ...flags].join(' \\\n  ');
}

/** Each flag with its value. */
function flagsIn(words: readonly string[]): string[] {
  const flags: string[] = [];
  for (const word of words) {
    const last = flags.length - 1;
    if (word.startsWith('--')) flags.push(quoted(word));
    else flags[last] = `${flags[last]} ${quoted(word)}`;
  }
  return flags;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
