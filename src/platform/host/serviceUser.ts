import { runAsRoot, runProgram } from './program.ts';

/** The account that PostgreSQL gets when we are root ourselves. Machines have others, which have no names. */
export const databaseUserName = 'innkeeper';

export interface ServiceUser {
  name: string;
  uid: number;
  gid: number;
}

/** Looks an account up by name; null when this machine has none of that name. */
export async function findUser(name: string): Promise<ServiceUser | null> {
  const found = await runProgram(['getent', 'passwd', name]).catch(() => null);
  const [, , uid, gid] = found?.stdout.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { name, uid: Number(uid), gid: Number(gid) };
}

/** Those found already: an account keeps its numbers as long as we run, and each look is a program of its own. */
const known = new Map<string, ServiceUser>();

/** The account of that name, made as a system user without home or login when it is absent. Needs root. */
export async function ensureServiceUser(name: string): Promise<ServiceUser> {
  const user = known.get(name) ?? (await findUser(name)) ?? (await makeServiceUser(name));
  known.set(name, user);
  return user;
}

async function makeServiceUser(name: string): Promise<ServiceUser> {
  // Full paths: root reached through `su` often has no sbin in its PATH.
  await runAsRoot(['/usr/sbin/groupadd', '--system', '--force', name]);
  await runAsRoot([
    '/usr/sbin/useradd',
    ...['--system', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin'],
    ...['--gid', name, name],
  ]).catch(async (error: unknown) => {
    // Another start may have made it between our look and our try.
    if (!(await findUser(name))) throw error;
  });
  const made = await findUser(name);
  if (!made) throw new Error(`The system user ${name} could not be found after creating it.`);
  return made;
}

/**
 * Argument vector that runs `argv` without root's rights. With `runAs` null we have none to give away and
 * `argv` comes back as it is. `signalWhenParentDies` names what the kernel sends the program when we die.
 */
export function asServiceUser(
  runAs: string | null,
  argv: readonly string[],
  signalWhenParentDies?: 'INT' | 'TERM' | 'KILL',
): string[] {
  const options: string[] = [];
  if (runAs !== null)
    options.push(`--reuid=${runAs}`, `--regid=${runAs}`, '--clear-groups', '--no-new-privs');
  if (signalWhenParentDies) options.push('--pdeathsig', signalWhenParentDies);
  return options.length > 0 ? ['setpriv', ...options, '--', ...argv] : [...argv];
}
