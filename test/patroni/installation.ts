import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../child.ts';
import { removeDataDir } from '../dataDir.ts';
import { makeRoom } from '../load.ts';
import { type PatroniBed, startPatroni } from './bed.ts';

/** The product in processes of its own on a PostgreSQL that fails over: API and worker are told of one address. */
export interface Installation {
  bed: PatroniBed;
  apis: readonly Child[];
  worker: Child;
  shop: Parameters<typeof makeRoom>[0];
  close(): Promise<void>;
}

export async function startInstallation(tree: string): Promise<Installation> {
  const bed = await startPatroni(tree);
  const dir = await mkdtemp(join(tmpdir(), 'innkeeper-failover-'));
  const children: Child[] = [];
  const close = async () => {
    await Promise.all(children.map((each) => each.end('SIGKILL')));
    await bed.close();
    await removeDataDir(dir);
  };
  const start = async (role: 'api' | 'worker') => {
    const child = await startChild(dir, {
      ROLE: role,
      DATABASE_URL: bed.applicationUrl,
      DATABASE_OWNER_URL: bed.url,
      SECRET_KEY: secretKey,
      HYPERVISOR: 'simulator',
      NETWORK4: '10.96.0.0/18',
      LOG_LEVEL: 'warn',
      CHECK_RESPONSES: 'on',
    });
    children.push(child);
    return child;
  };
  const secretKey = randomBytes(32).toString('base64');
  try {
    const first = await start('api');
    const apis = [first, await start('api')];
    const worker = await start('worker');
    const shop = { urls: apis.map(({ url }) => url), demo: first.demo, databaseUrl: bed.url };
    await makeRoom(shop);
    return { bed, apis, worker, shop, close };
  } catch (error) {
    await close();
    throw error;
  }
}
