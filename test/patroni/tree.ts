import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureUnpacked } from '../unpacked.ts';

/** A PostgreSQL that fails over: Patroni with etcd, and HAProxy as the one address in front. */
const packages = ['postgresql', 'patroni', 'etcd-server', 'haproxy'];

/** A folder with what of them this host lacks; see {@link ensureUnpacked}. The first time takes some seconds and 12 MB. */
export function ensurePatroniTree(): Promise<string> {
  return ensureUnpacked('patroni', packages);
}

/** The folder of PostgreSQL's own programs, which stand apart from all others. */
export async function postgresIn(tree: string): Promise<string> {
  for (const root of [tree, '/']) {
    const versions = await readdir(join(root, 'usr/lib/postgresql')).catch(() => []);
    const newest = versions.map(Number).sort((a, b) => b - a)[0];
    if (newest !== undefined) return join(root, 'usr/lib/postgresql', String(newest), 'bin');
  }
  throw new Error('there is no PostgreSQL of Debian');
}
