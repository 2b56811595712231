import { type ChildProcess, spawn } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const program = '/usr/sbin/pdns_server';
const schema = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql';

/** Why there is no PowerDNS on this host; null when there is. */
export const withoutPowerDns =
  existsSync(program) && existsSync(schema) ? null : 'pdns-server and pdns-backend-sqlite3 are not installed';

/** A real PowerDNS on loopback, with a database of its own. */
export interface PowerDnsServer {
  url: string;
  apiKey: string;
  addZone(name: string): Promise<void>;
  /** The PTR names of an address as a resolver sees them; none when there are none. */
  ask(address: string): Promise<string[]>;
  /** Ends it for a while; what it gives starts it again where it was, with all that it had. */
  away(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function startPowerDns(): Promise<PowerDnsServer> {
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-pdns-'));
  const database = new DatabaseSync(join(dir, 'pdns.sqlite3'));
  database.exec(readFileSync(schema, 'utf8'));
  database.close();
  const [dnsPort, apiPort] = [await freePort(), await freePort()];
  const apiKey = 'canary-dns-key';
  const settings = {
    launch: 'gsqlite3',
    'gsqlite3-database': join(dir, 'pdns.sqlite3'),
    'local-address': '127.0.0.1',
    'local-port': dnsPort,
    api: 'yes',
    'api-key': apiKey,
    webserver: 'yes',
    'webserver-address': '127.0.0.1',
    'webserver-port': apiPort,
    'socket-dir': dir,
    daemon: 'no',
    guardian: 'no',
    'disable-syslog': 'yes',
    'security-poll-suffix': '',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  writeFileSync(join(dir, 'pdns.conf'), `${lines.join('\n')}\n`);
  const url = `http://127.0.0.1:${apiPort}`;
  const start = async () => {
    const child = spawn(program, [`--config-dir=${dir}`], { stdio: 'ignore' });
    await answers(url, apiKey, child);
    return child;
  };
  let child = await start();

  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${dnsPort}`]);
  return {
    url,
    apiKey,
    async addZone(name) {
      const response = await fetch(`${url}/api/v1/servers/localhost/zones`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ name, kind: 'Native', nameservers: ['ns1.example.com.'] }),
      });
      if (!response.ok) throw new Error(`PowerDNS refused the zone ${name}: ${await response.text()}`);
    },
    ask: (address) =>
      resolver.reverse(address).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return [];
        throw error;
      }),
    async away() {
      await ended(child);
      return async () => {
        child = await start();
      };
    },
    close: async () => {
      await ended(child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function answers(url: string, apiKey: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PowerDNS ended with ${child.exitCode}`);
    const response = await fetch(`${url}/api/v1/servers`, { headers: { 'x-api-key': apiKey } }).catch(
      () => null,
    );
    if (response?.ok) return;
    if (Date.now() > deadline) throw new Error('PowerDNS does not answer');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
