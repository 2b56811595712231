import { pbkdf2 } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lookupsOf, nameServers, type Resolved } from './resolve.ts';

/** A name server: what begins with `slow` has no answer, `broken` fails, everything else is 192.0.2.7. */
let server: Socket;
let at: string;
const asked: string[] = [];
beforeAll(async () => {
  server = createSocket('udp4');
  server.on('message', (query, { address, port }) => {
    const labels: string[] = [];
    let place = 12;
    for (let length = query[place] ?? 0; length > 0; length = query[place] ?? 0) {
      labels.push(query.toString('ascii', place + 1, place + 1 + length));
      place += 1 + length;
    }
    const name = labels.join('.');
    const isV4 = query.readUInt16BE(place + 1) === 1;
    asked.push(`${name} ${isV4 ? 'A' : 'AAAA'}`);
    if (name.startsWith('slow') || (name.startsWith('half') && !isV4)) return;
    const question = query.subarray(12, place + 5);
    const code = name.startsWith('broken') ? 2 : name.startsWith('missing') ? 3 : 0;
    const answers = code === 0 && isV4 ? 1 : 0;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers, 6);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
    server.send(Buffer.concat([head, question, ...(answers === 1 ? [answer] : [])]), port, address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  at = `127.0.0.1:${server.address().port}`;
});
afterAll(() => {
  server.close();
});

const found: Resolved[] = [{ address: '192.0.2.7', family: 4 }];
const code = (error: unknown) => (error as { code: string }).code;

describe('a name', () => {
  it('is looked up in time although many others have servers that say nothing, and files are read meanwhile', async () => {
    const resolve = nameServers({ hostsFile: null, servers: [at], deadlineMs: 2_000 });
    const slow = Array.from({ length: 20 }, (_, nth) => resolve(`slow${nth}.example`).catch(code));
    const began = performance.now();
    expect(await resolve('good.example')).toEqual(found);
    // Of the four threads that files and hashes share, none waits for a name server.
    await promisify(pbkdf2)('a', 'b', 1, 16, 'sha256');
    expect(performance.now() - began).toBeLessThan(1_000);
    expect([...new Set(await Promise.all(slow))]).toEqual(['ETIMEOUT']);
    expect(performance.now() - began).toBeLessThan(4_000);
  });

  it('has the addresses that are known soon, and says why it has none', async () => {
    const resolve = nameServers({ hostsFile: null, servers: [at], deadlineMs: 2_000 });
    const began = performance.now();
    expect(await resolve('half.example')).toEqual(found);
    expect(performance.now() - began).toBeLessThan(1_500);
    expect(await resolve('missing.example').catch(code)).toBe('ENOTFOUND');
    expect(await resolve('broken.example').catch(code)).toBe('ESERVFAIL');
  });

  it('is taken from the list of the host only where that is given', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'innkeeper-hosts-'));
    const hostsFile = join(folder, 'hosts');
    writeFileSync(hostsFile, '# ours\n10.1.2.3 hooks.intern.example Hooks # the first\nfd00::3\thooks\n');
    const own = nameServers({ hostsFile, servers: [at] });
    expect(await own('hooks')).toEqual([
      { address: '10.1.2.3', family: 4 },
      { address: 'fd00::3', family: 6 },
    ]);
    expect(await own('other.example')).toEqual(found);
    const plain = nameServers({ hostsFile: null, servers: [at] });
    expect(await plain('hooks.intern.example')).toEqual(found);
    rmSync(folder, { recursive: true });
  });
});

it('an organization has a few names looked up at once, each once, and others do not wait for it', async () => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const lookup = lookupsOf((host) => {
    begun.push(host);
    return new Promise((resolve) => ends.set(host, () => resolve(found)));
  }, 2);
  const slow = ['a', 'b', 'c', 'a'].map((host) => lookup(1, host));
  const other = lookup(2, 'good');
  await Promise.resolve();
  expect(begun).toEqual(['a', 'b', 'good']);
  ends.get('good')?.();
  expect(await other).toEqual(found);
  ends.get('a')?.();
  await expect.poll(() => begun).toEqual(['a', 'b', 'good', 'c']);
  ends.get('b')?.();
  ends.get('c')?.();
  expect(await Promise.all(slow)).toEqual([found, found, found, found]);
});
