import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import os from 'node:os';
import type { Config } from '../../config.ts';

/** Where this process answers others of the installation, as `http://host:port`. */
export function ownAddress(
  { processUrl, role, ...config }: Pick<Config, 'processUrl' | 'host' | 'role' | 'workerHost'>,
  server: Server,
): string {
  if (processUrl !== null) return new URL(processUrl).origin;
  const at = server.address();
  const port = typeof at === 'object' && at !== null ? at.port : 0;
  const host = role === 'worker' ? config.workerHost : config.host;
  const isEvery = host === '0.0.0.0' || host === '::';
  const name = isEvery ? os.hostname() : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** By the product that they belong to: tests run several in one process. */
const processes = new WeakMap<Config, string>();

/** What this process is known by to others of the installation, from its start to its end. */
export function ownProcess(config: Config): string {
  const known = processes.get(config) ?? randomUUID();
  processes.set(config, known);
  return known;
}
