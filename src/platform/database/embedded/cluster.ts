import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { syncFolder } from '../../host/durable.ts';
import { runProgram } from '../../host/program.ts';
import { asServiceUser, findUser, type ServiceUser } from '../../host/serviceUser.ts';
import type { PostgresBinaries } from './binaries.ts';
import { type PostgresSettings, settingsFile } from './settings.ts';

/** Everything one PostgreSQL server of ours has on disk, and as whom it runs. */
export interface Cluster {
  /** Holds what follows; root's own when we are root, so that the server cannot swap paths that we use. */
  home: string;
  dataDir: string;
  configFile: string;
  logFile: string;
  /** Holds the unix socket and nothing else; only the server's account and root get in. */
  socketDir: string;
  /** Account the server runs under when we are root; null when it runs as we do. */
  owner: ServiceUser | null;
}

/** Names and makes the directories of the server whose state lives in `dir`. Repeatable. */
export async function openCluster(dir: string, runDir: string, runAs: string | null): Promise<Cluster> {
  const home = path.join(dir, 'postgres');
  const owner = runAs === null ? null : await findUser(runAs);
  if (runAs !== null && !owner) throw new Error(`The system user ${runAs} does not exist.`);
  const cluster: Cluster = {
    home,
    dataDir: path.join(home, 'data'),
    configFile: path.join(home, 'innkeeper.conf'),
    logFile: path.join(home, 'postgres.log'),
    socketDir: path.join(runDir, 'postgres'),
    owner,
  };
  if (Buffer.byteLength(path.join(cluster.socketDir, '.s.PGSQL.5432')) > 107) {
    throw new Error(
      `${cluster.socketDir} is too long for a unix socket (107 bytes). Choose a shorter DATA_DIR.`,
    );
  }
  await fs.mkdir(home, { recursive: true, mode: 0o700 });
  await fs.mkdir(cluster.socketDir, { recursive: true, mode: 0o700 });
  await fs.chmod(cluster.socketDir, 0o700);
  if (owner) {
    await fs.chown(home, 0, owner.gid);
    await fs.chmod(home, 0o710);
    await fs.chown(cluster.socketDir, owner.uid, owner.gid);
  }
  return cluster;
}

/** Makes the cluster when there is none yet. Fails when there is one that these programs cannot open. */
export async function ensureInitialized(
  cluster: Cluster,
  binaries: PostgresBinaries,
  log: (line: string) => void,
): Promise<void> {
  const found = await readOwnerAndMajor(cluster);
  if (!found) return build(cluster, binaries, log);
  if (found.major !== null && found.major !== binaries.major) {
    throw new Error(
      `${cluster.dataDir} was written by PostgreSQL ${found.major}; this Innkeeper brings PostgreSQL ` +
        `${binaries.major}, which cannot open it. Take a backup with the Innkeeper that wrote it ("innkeeper backup"), ` +
        `move ${cluster.home} away and restore it with this one ("innkeeper restore FILE"). Nothing was changed.`,
    );
  }
  const uid = cluster.owner?.uid ?? process.getuid?.();
  if (found.uid !== uid) {
    throw new Error(
      `${cluster.dataDir} belongs to user ${found.uid}, and the database would run as ${uid}. Start Innkeeper ` +
        'as the user who started it before, or give the directory away with chown -R.',
    );
  }
}

async function readOwnerAndMajor(cluster: Cluster): Promise<{ uid: number; major: string | null } | null> {
  try {
    const { uid } = await fs.stat(cluster.dataDir);
    const major = await fs.readFile(path.join(cluster.dataDir, 'PG_VERSION'), 'utf8').catch((error) => {
      if (error.code === 'EACCES') return null; // another user's: `uid` tells
      throw error;
    });
    return { uid, major: major?.trim() ?? null };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Builds the cluster beside its place and renames it: a crash on the way leaves no half of one behind. */
async function build(cluster: Cluster, binaries: PostgresBinaries, log: (line: string) => void) {
  for (const name of await fs.readdir(cluster.home)) {
    if (!name.startsWith('initdb-')) continue;
    // A child of an initdb that was killed may write on for a moment. What cannot go now goes another time.
    const patience = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 };
    await fs.rm(path.join(cluster.home, name), patience).catch(() => undefined);
  }
  log('creating the database cluster');
  const building = await fs.mkdtemp(path.join(cluster.home, 'initdb-'));
  if (cluster.owner) await fs.chown(building, cluster.owner.uid, cluster.owner.gid);
  const initdb = [
    path.join(binaries.dir, 'bin', 'initdb'),
    ...['--pgdata', building, '--username', 'postgres', '--auth', 'peer', '--no-instructions'],
    // PostgreSQL's own C.UTF-8: an upgrade of the machine's libc cannot change how an index is sorted.
    ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ...['--sync-method', 'syncfs'],
  ];
  // With TZ set, initdb does not compare every zone it knows with the machine's.
  await runProgram(asServiceUser(cluster.owner?.name ?? null, initdb, 'KILL'), {
    cwd: '/',
    env: { TZ: 'UTC' },
    timeoutMs: 300_000,
  });
  await fs.rename(building, cluster.dataDir);
  await syncFolder(cluster.home);
}

/**
 * Writes the server's configuration: parameters, and who may connect. The socket's directory keeps others
 * out; within it only the account that the product runs as is let in, not even the server's own.
 */
export async function writeConfiguration(cluster: Cluster, settings: PostgresSettings): Promise<void> {
  const hbaFile = path.join(cluster.home, 'pg_hba.conf');
  const identFile = path.join(cluster.home, 'pg_ident.conf');
  const us = os.userInfo().username;
  await writeReadable(
    hbaFile,
    'local all innkeeper,innkeeper_app,innkeeper_retention,postgres peer map=us\n',
  );
  await writeReadable(
    identFile,
    ['innkeeper', 'innkeeper_app', 'innkeeper_retention', 'postgres']
      .map((role) => `us "${us}" ${role}\n`)
      .join(''),
  );
  await writeReadable(
    cluster.configFile,
    settingsFile({
      ...settings,
      data_directory: cluster.dataDir,
      hba_file: hbaFile,
      ident_file: identFile,
      port: '5432',
      unix_socket_directories: `"${cluster.socketDir}"`, // quoted: the setting is a list with commas
    }),
  );

  async function writeReadable(file: string, text: string) {
    await fs.writeFile(`${file}.new`, text, { mode: 0o640 });
    if (cluster.owner) await fs.chown(`${file}.new`, 0, cluster.owner.gid);
    await fs.rename(`${file}.new`, file);
  }
}
