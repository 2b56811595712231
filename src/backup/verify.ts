import fs from 'node:fs/promises';
import path from 'node:path';
import { startEmbeddedPostgres } from '../platform/database/embedded/index.ts';
import { prepareDataDir } from '../platform/host/dataDir.ts';
import { unpack } from './archive.ts';
import { tryingOut, withWorkFolder } from './folder.ts';
import { loadBackup } from './load.ts';
import type { Manifest } from './manifest.ts';

/** For data that is thrown away in a minute. */
const scratchSettings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  shared_buffers: '64MB',
  max_connections: '10',
};

/**
 * Proves that a backup can be restored by restoring it: into a PostgreSQL of its own, which is thrown away afterwards.
 * Every checksum, every row and every foreign key is compared. `inside` is a prepared DATA_DIR with room for it. Throws
 * what is wrong.
 */
export async function verifyBackup(file: string, inside: string): Promise<Manifest> {
  return withWorkFolder(inside, async (folder) => {
    const manifest = await unpack(file, folder);
    await withScratch(inside, (url) => loadBackup(url, 'verified', folder, manifest));
    return manifest;
  });
}

/** Beside the work folder, not in it: the account of the database's server has to get there. */
async function withScratch(inside: string, work: (url: string) => Promise<void>): Promise<void> {
  const data = await prepareDataDir(await fs.mkdtemp(path.join(inside, tryingOut)));
  try {
    const server = await startEmbeddedPostgres({ ...data, log: () => undefined, settings: scratchSettings });
    await work(server.url).finally(() => server.stop());
  } finally {
    for (const dir of [data.runDir, data.dir]) await fs.rm(dir, { recursive: true, force: true });
  }
}
