import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { exists, giveTo, type MachineFiles, makeMachineDir, type Owner } from './files.ts';
import { type PublicIdentity, rescueSeed, SEED_BYTES, type Secrets, seed } from './seed.ts';

/** Writes the seed disk that the guest reads when it boots. */
export async function writeIdentity(
  files: MachineFiles,
  identity: PublicIdentity & Secrets,
  owner: Owner | null,
): Promise<void> {
  const { guest, nic, hostname, nameservers } = identity;
  await makeMachineDir(files, owner);
  await replace(files.identity, JSON.stringify({ guest, nic, hostname, nameservers }), null);
  await replace(files.seed, seed(files.id, identity, identity), owner);
}

/** Writes the seed that the rescue system reads; without secrets it takes those of the machine's own disk. */
export async function writeRescueSeed(
  files: MachineFiles,
  secrets: Secrets | null,
  owner: Owner | null,
): Promise<void> {
  await replace(files.rescueSeed, rescueSeed(await readIdentity(files), secrets), owner);
}

/** Writes the seeds again without secrets. */
export async function forgetSecrets(files: MachineFiles): Promise<void> {
  if (!(await exists(files.seed))) return;
  const known = await readIdentity(files);
  await overwrite(files.seed, seed(files.id, known, null));
  if (await exists(files.rescueSeed)) await overwrite(files.rescueSeed, rescueSeed(known, null));
}

/** Gives the machine another name from its next boot on. Secrets still there go, as in {@link forgetSecrets}. */
export async function renameIdentity(files: MachineFiles, hostname: string): Promise<void> {
  const known = { ...(await readIdentity(files)), hostname };
  await replace(files.identity, JSON.stringify(known), null);
  await overwrite(files.seed, seed(files.id, known, null));
}

async function readIdentity(files: MachineFiles): Promise<PublicIdentity> {
  return JSON.parse(await readFile(files.identity, 'utf8'));
}

/**
 * In place, not by renaming: a running QEMU holds the file open, and what it holds would keep the secrets on
 * this disk until the machine stops.
 */
async function overwrite(file: string, content: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.write(content, 0, SEED_BYTES, 0);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function replace(file: string, content: string | Buffer, owner: Owner | null): Promise<void> {
  const partial = `${file}.partial`;
  await writeFile(partial, content, { mode: 0o600 });
  await giveTo(owner, partial);
  await rename(partial, file);
}
