import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';

/** The first of two that are free, kept in a file: an installer goes on calling whom it was told to. */
export async function portOf(file: string): Promise<number> {
  if (existsSync(file)) return Number(readFileSync(file, 'utf8'));
  const port = await twoFreePorts();
  await writeFile(file, String(port));
  return port;
}

/** One and the one after it, below those that are given out by themselves. */
async function twoFreePorts(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 20_000 + 2 * Math.floor(Math.random() * 6_000);
    if ((await isFree(port)) && (await isFree(port + 1))) return port;
  }
  throw new Error('no two ports in a row are free on this host');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
