import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkName, type Files, FilesError } from './contract.ts';

/** Where files are while they are written; no name begins with a dot, so none can be in here. */
const unfinished = '.unfinished';
const msPerDay = 86_400_000;

/** The embedded default: files in a folder of this host that nobody else looks into. It is made when it is needed. */
export function folderFiles({ dir }: { dir: string }): Files {
  const root = path.resolve(dir);
  const place = (name: string) => {
    checkName(name);
    return path.join(root, name);
  };
  let swept: Promise<void> | null = null;
  return {
    kind: 'folder',
    capabilities: ['in_backup'],
    put: async (name, content) => {
      const file = place(name);
      return saying(name, 'put', async () => {
        swept ??= sweep(path.join(root, unfinished)).catch(() => undefined); // the room it takes is all that is lost
        await swept;
        await write(root, file, content);
      });
    },
    get: async (name) => {
      const file = place(name);
      return saying(name, 'get', () => fs.readFile(file));
    },
    stream: async (name) => {
      const file = place(name);
      return saying(name, 'get', async () => {
        const opened = await fs.open(file, 'r');
        if ((await opened.stat()).isFile()) return opened.createReadStream();
        await opened.close();
        throw absent(name);
      });
    },
    exists: async (name) => {
      const file = place(name);
      return saying(name, 'get', () =>
        fs.stat(file).then(
          (found) => found.isFile(),
          (error: NodeJS.ErrnoException) => {
            if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
            throw error;
          },
        ),
      );
    },
    delete: async (name) => {
      const file = place(name);
      return saying(name, 'put', async () => {
        if (!(await remove(file))) return;
        await sync(path.dirname(file));
      });
    },
  };
}

/** Written beside, forced to the disk, then given its name, which is forced to the disk too. */
async function write(root: string, file: string, content: Buffer | Readable): Promise<void> {
  const partial = path.join(root, unfinished, randomUUID());
  await fs.mkdir(path.dirname(partial), { recursive: true, mode: 0o700 });
  const folder = path.dirname(file);
  const firstMade = await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const source = Buffer.isBuffer(content) ? Readable.from([content]) : content;
    await pipeline(source, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }));
    await fs.rename(partial, file);
  } catch (error) {
    await fs.rm(partial, { force: true });
    throw error;
  }
  // A folder that was made just now is known to the disk once the one around it is.
  const last = firstMade === undefined ? folder : path.dirname(firstMade);
  for (let at = folder; ; at = path.dirname(at)) {
    await sync(at);
    if (at === last || at === path.dirname(at)) return;
  }
}

async function sync(folder: string): Promise<void> {
  const opened = await fs.open(folder, 'r');
  await opened.sync().finally(() => opened.close());
}

async function remove(file: string): Promise<boolean> {
  return fs.unlink(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw error;
    },
  );
}

/** Takes away what processes left that died while they wrote. Nobody writes on one file for a day. */
async function sweep(folder: string): Promise<void> {
  const names = await fs.readdir(folder).catch(() => []);
  for (const name of names) {
    const file = path.join(folder, name);
    const { mtimeMs } = await fs.stat(file);
    if (Date.now() - mtimeMs > msPerDay) await fs.rm(file, { force: true });
  }
}

/** What a call does to a file: of one that is to be there afterwards it says nothing that it is not. */
type Call = 'get' | 'put';

async function saying<T>(name: string, call: Call, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FilesError ? error : asFilesError(name, call, error);
  }
}

function absent(name: string, cause?: unknown): FilesError {
  return new FilesError('file_absent', `there is no file ${name}`, { permanent: true, cause });
}

function asFilesError(name: string, call: Call, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return error; // what was to be written failed, and says so itself
  if (code === 'ENOENT' && call === 'get') return absent(name, error);
  if (code === 'ENOTDIR' && call === 'get') return absent(name, error);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new FilesError('files_full', `there is no room for ${name}: free some where files are kept`, {
      cause: error,
    });
  }
  if (code === 'ENOTDIR' || code === 'EISDIR' || code === 'EEXIST' || code === 'ENOTEMPTY') {
    const what = `${name} cannot be a file: another name needs it as a folder, or the other way round`;
    return new FilesError('name_invalid', what, { permanent: true, cause: error });
  }
  return new FilesError('files_unreachable', `${name}: ${message}`, { cause: error });
}
