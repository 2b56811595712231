/** What may be done with a machine from anywhere. */
export const commands = ['start', 'stop', 'restart'] as const;
export type Command = (typeof commands)[number];

export interface Wish {
  /** Null: something is looked for, and nothing is to be done with it. */
  command: Command | null;
  words: string;
}

/** `restart web1` is something to be done, in the words of whoever looks or in English; all else is looked for. */
export function wishIn(typed: string, nameOf: (command: Command) => string): Wish {
  const text = typed.trim();
  for (const command of commands)
    for (const name of [nameOf(command), command]) {
      const isMeant = text.toLowerCase().startsWith(`${name.toLowerCase()} `);
      if (isMeant) return { command, words: text.slice(name.length).trim() };
    }
  return { command: null, words: text };
}
