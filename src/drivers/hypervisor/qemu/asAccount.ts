import type { Owner } from './files.ts';

/**
 * The arguments that run a program as this account from its first instruction: it can open what the account may, and
 * nothing that it starts or becomes ever gets more. Null: as who we are.
 */
export function asAccount(
  owner: Owner | null,
  argv: readonly string[],
  group: number | null = null,
): string[] {
  if (!owner) return [...argv];
  const groups = group === null ? '--clear-groups' : `--groups=${group}`;
  const rights = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
  return ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, groups, ...rights, '--', ...argv];
}
