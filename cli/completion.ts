/** What a shell offers when somebody presses Tab: words of commands, then flags. */

import type { OwnCommand } from './help.ts';
import { general } from './parse.ts';
import type { Command } from './table.ts';

/** What may come next after these words. */
export function offers(
  typed: readonly string[],
  commands: readonly Command[],
  own: readonly OwnCommand[],
): string[] {
  const before = typed.slice(0, -1).filter((word) => !word.startsWith('-'));
  const last = typed.at(-1) ?? '';
  const all = [...commands, ...own];
  const command = commands.find(({ words }) => words.every((word, at) => before[at] === word));
  if (command !== undefined) {
    const fields = [...command.query, ...(command.body ?? [])].map(({ flag }) => `--${flag}`);
    const also = general.filter(({ of }) => of(command)).map(({ flag }) => `--${flag}`);
    return [...new Set([...fields, ...also])].filter((flag) => flag.startsWith(last) && last.startsWith('-'));
  }
  const next = all
    .filter(({ words }) => words.length > before.length && before.every((word, at) => words[at] === word))
    .map(({ words }) => words[before.length] ?? '');
  return [...new Set(next)].filter((word) => word.startsWith(last)).sort();
}

/** To be read by the shell: `source <(inn completion bash)`. */
export function scriptFor(shell: string, program: string): string | null {
  const name = program.replace(/\W/g, '_');
  if (shell === 'bash')
    return `_${name}() { mapfile -t COMPREPLY < <(${program} complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); }
complete -o default -F _${name} ${program}`;
  if (shell === 'zsh')
    return `_${name}() { compadd -- \${(f)"$(${program} complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"} || _files; }
compdef _${name} ${program}`;
  return null;
}
