import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { prepareDataDir } from '../src/platform/host/dataDir.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client, type Response } from './client.ts';
import { until } from './product.ts';
import { signalIfThere } from './signal.ts';

/** How long a guest may take to boot under emulation on a busy machine. */
export const bootMs = 240_000;

/** The product as a user starts it, with real machines on a bridge that no other test has. */
export interface RealProduct {
  child: Child;
  customer: Client;
  staff: Client;
  dataDir: string;
  /** Runs a command in a machine, let in by this product's key or by a password; fails unless it lets us in. */
  ssh(address: string, command: string, password?: string): Promise<string>;
  /** Processes of this product's machines. */
  machinePids(): number[];
  /** Asks for an action of a VPS and waits for its end; its answer's data with the ended action. */
  // biome-ignore lint/suspicious/noExplicitAny: as in client.ts
  act(serviceId: number, method: 'POST' | 'DELETE', path: string, body?: object): Promise<any>;
  /** Starts it again in its data directory, once it has ended. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it. `network` is the third and fourth part of what its addresses are made of: 78 for 10.78.0.0/24. */
export async function startRealProduct(
  bridge: string,
  network: number,
  env: Record<string, string> = {},
): Promise<RealProduct> {
  const dataDir = mkdtempSync(join(tmpdir(), `innkeeper-${bridge}-`));
  const { runDir } = await prepareDataDir(dataDir);
  await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', join(dataDir, 'id')]);
  const start = () =>
    startChild(dataDir, {
      HYPERVISOR: 'qemu',
      IMAGES_DIR: process.env.INNKEEPER_TEST_IMAGES ?? '',
      BRIDGE: bridge,
      NETWORK4: `10.${network}.0.0/24`,
      NETWORK6: `fd${network}::/64`,
      ...env,
    });
  const child = await start();
  const product: RealProduct = {
    child,
    ...clientsOf(child),
    dataDir,
    ssh: (address, command, password) => ssh(dataDir, address, command, password),
    machinePids: () => machinePids(runDir),
    act: (serviceId, method, path, body) => act(product.customer, serviceId, method, path, body),
    start: async () => {
      product.child = await start();
      Object.assign(product, clientsOf(product.child));
    },
    stop: async () => {
      await product.child.end('SIGTERM');
      for (const pid of machinePids(runDir)) signalIfThere(pid, 'SIGKILL');
      await until(
        async () => machinePids(runDir),
        (pids) => pids.length === 0,
      );
      await runProgram(['umount', join(runDir, 'data')]).catch(() => undefined); // only where /tmp is closed to others
      rmSync(runDir, { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return product;
}

function clientsOf({ url, demo }: Child): Pick<RealProduct, 'customer' | 'staff'> {
  const { api_key: token, organization_id: organizationId } = demo.customer;
  return {
    customer: apiClient(`${url}/api`, { token, organizationId }),
    staff: apiClient(`${url}/api`, { token: demo.staff.api_key }),
  };
}

async function act(
  customer: Client,
  serviceId: number,
  method: 'POST' | 'DELETE',
  path: string,
  body: object = {},
) {
  const base = `/dashboard/service/${serviceId}/vps`;
  const asked: Response = await customer.request(method, base + path, method === 'POST' ? body : undefined);
  expect(asked.status, JSON.stringify(asked.body)).toBe(200);
  const { id } = asked.body.data.action;
  const ended = await until(
    async () => (await customer.get(`${base}/history/${id}`)).body.data?.action,
    (action) => ['success', 'error'].includes(action?.status),
    bootMs,
  );
  return { ...asked.body.data, action: ended };
}

async function ssh(dataDir: string, address: string, command: string, password?: string): Promise<string> {
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'ConnectTimeout=10',
  ];
  const by =
    password === undefined
      ? ['BatchMode=yes', 'PasswordAuthentication=no', `IdentityFile=${join(dataDir, 'id')}`]
      : ['PubkeyAuthentication=no', 'NumberOfPasswordPrompts=1'];
  const client = ['ssh', '-F', 'none', ...[...options, ...by].flatMap((option) => ['-o', option])];
  const argv = password === undefined ? client : ['sshpass', '-e', ...client];
  const env = { ...process.env, SSHPASS: password ?? '' } as Record<string, string>;
  const { stdout } = await runProgram([...argv, `root@${address}`, command], { env, timeoutMs: 60_000 });
  return stdout.trim();
}

function machinePids(runDir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return /^(\S*\/)?qemu-system/.test(line) && line.includes(runDir);
      } catch {
        return false; // it has ended meanwhile
      }
    });
}
