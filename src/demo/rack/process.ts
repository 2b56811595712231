/**
 * The demonstration's rack where machines are simulated, in a process of its own: servers go on when the product ends in the middle of
 * something, as real ones would. It is told its folder and how many servers it has, and ends when it is told to, or when nobody has
 * spoken to it for a while.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { knowsWord, serveBmcs } from '../../drivers/bmc/index.ts';
import { type Cable, openPlayedRack } from './racked.ts';

/** Whoever serves the servers' network speaks to it every two seconds. */
const aloneMs = 60_000;

const [dir = '.', count = '0'] = process.argv.slice(2);
const word = randomBytes(24).toString('base64url');
const rack = openPlayedRack(join(dir, 'servers.json'), Number(count));
const bmcs = serveBmcs(rack.bmcs);

let spokenToAt = performance.now();
setInterval(() => {
  if (performance.now() - spokenToAt > aloneMs) process.exit();
}, 1_000);

const server = createServer((request, response) => {
  if (!knowsWord(request, word)) return void response.writeHead(403).end();
  spokenToAt = performance.now();
  const url = new URL(request.url ?? '/', 'http://rack');
  const answer = async (): Promise<unknown> => {
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /':
        return response.end('{}');
      case 'POST /bmc':
        return bmcs.answer(request, response);
      case 'POST /cable':
        rack.plug((await json(request)) as Cable);
        return response.end('{}');
      case 'GET /greets':
        return response.end(JSON.stringify(rack.greets.has(url.searchParams.get('address') ?? '')));
      case 'POST /end':
        return response.end('{}', () => process.exit());
      default:
        return response.writeHead(404).end();
    }
  };
  answer().then(rack.keep, (error: Error) => response.writeHead(500).end(error.message));
});
server.on('upgrade', (request, socket) => {
  if (!knowsWord(request, word)) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  bmcs.upgrade(request, socket).catch(() => socket.destroy());
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const place = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, word, pid: process.pid };
const file = join(dir, 'place.json');
writeFileSync(`${file}.partial`, JSON.stringify(place), { mode: 0o600 });
renameSync(`${file}.partial`, file);
