/**
 * What stands outside the product while it tells of things, as a program of its own: `node bench/outside.ts KIND`, started by
 * `telling.ts` and spoken to over its channel. `clients` has streams of events open, `host` takes webhooks, and `bare` sends to
 * such a host by `undici` and nothing else.
 */
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { nowMs } from './measure.ts';

const kind = process.argv[2];
const tell = (message: object) => process.send?.(message);
process.on('disconnect', () => process.exit(0));

interface Connecting {
  url: string;
  people: { token: string; organizationId: number }[];
}

/** Opens a stream for each, and tells of each event when it came. */
function clients(): void {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  let open = 0;
  const connect = (url: string, token: string, organizationId: number) =>
    new Promise<void>((resolve, reject) => {
      const headers = { token, 'x-organization-id': String(organizationId), accept: 'text/event-stream' };
      get(`${url}/api/dashboard/events`, { agent, headers }, (response) => {
        if (response.statusCode !== 200) {
          response
            .setEncoding('utf8')
            .on('data', (text) => reject(new Error(`a stream answered ${response.statusCode}: ${text}`)));
          return;
        }
        open += 1;
        response.setEncoding('utf8').on('data', (text: string) => {
          const at = nowMs();
          for (const [, total] of text.matchAll(/"total":"(\d+)"/g)) tell({ total: Number(total), at });
        });
        response.on('close', () => {
          open -= 1;
        });
        resolve();
      }).on('error', reject);
    });
  process.on('message', async ({ url, people }: Connecting) => {
    for (let at = 0; at < people.length; at += 20)
      await Promise.all(
        people.slice(at, at + 20).map(async ({ token, organizationId }) => {
          const open = () => connect(url, token, organizationId);
          // As a browser's program does on a machine that is busy.
          await open().catch(() => pause(1_000).then(open));
        }),
      );
    tell({ open });
  });
}

/** Takes whatever is posted, and says how much it was when it is asked. */
function host(): void {
  let taken = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      taken += 1;
      response.end('ok');
    });
  });
  server.keepAliveTimeout = 60_000;
  process.on('message', () => tell({ taken }));
  server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }));
}

interface Sending {
  port: number;
  count: number;
  body: string;
}

function bare(): void {
  process.on('message', async ({ port, count, body }: Sending) => {
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 128 });
    const headers = { 'content-type': 'application/json', 'user-agent': 'Innkeeper-Webhooks/1.0' };
    let left = count;
    const began = nowMs();
    const send = async () => {
      while (left > 0) {
        left -= 1;
        const { body: answer } = await pool.request({ method: 'POST', path: '/', headers, body });
        await answer.text();
      }
    };
    await Promise.all(Array.from({ length: 128 }, send));
    tell({ tookMs: nowMs() - began });
    await pool.close();
  });
}

const kinds: Record<string, () => void> = { clients, host, bare };
kinds[kind ?? '']?.();
