import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configuration, type NetbootNetwork } from './configuration.ts';
import { netbootHandler } from './handler.ts';
import { bootScript } from './script.ts';

const places = { files: 'http://192.0.2.1', calls: 'https://192.0.2.1/installer', key: 'sha256//a+b/c=' };

describe('what iPXE is told', () => {
  it('is one drive after another by BIOS, and the firmware’s own list by UEFI', () => {
    const [first, firmware, drives] = bootScript({ start: 'disk' }, places).split('\n');
    expect([first, firmware]).toEqual(['#!ipxe', `iseq \${platform} pcbios || exit 1`]);
    expect(drives).toMatch(/^sanboot --no-describe --drive 0x80 \|\| sanboot .* 0x87 \|\| exit$/);
  });

  it('is where the installer is, whom it calls, and by which key and token', () => {
    const script = bootScript({ start: 'installer', token: 'a-token' }, { ...places, serial: 'ttyS1' });
    expect(script).toContain(
      'kernel http://192.0.2.1/kernel initrd=initrd console=tty0 console=ttyS1,115200 quiet ',
    );
    for (const word of [
      'url=https://192.0.2.1/installer',
      'token=a-token',
      'key=sha256//a+b/c=',
      'serial=ttyS1',
    ])
      expect(script).toContain(` innkeeper.${word} `);
    expect(script).toMatch(/\ninitrd --name initrd http:\/\/192\.0\.2\.1\/initrd\nboot\n$/);
  });
});

describe('what dnsmasq is told', () => {
  const network: NetbootNetwork = {
    ...{ interface: 'br0', address: '192.0.2.1', prefix: 23, gateway: '192.0.2.254' },
    range: null,
    script: 'http://192.0.2.1/boot.ipxe',
  };
  const files = { tftp: '/t', reservations: '/r', leases: '/l', pid: '/p' };

  it('is to answer nobody without a reservation', () => {
    const lines = configuration(network, files).split('\n');
    expect(lines).toContain('dhcp-ignore=tag:!known');
    expect(lines).toContain('dhcp-range=192.0.2.1,static,255.255.254.0,10m');
    // Its `no-pxedhcp`, without which each start waits three seconds for others to offer something.
    expect(lines).toContain('dhcp-option=encap:175,176,1b');
    expect(lines).toContain(`dhcp-boot=tag:ipxe,http://192.0.2.1/boot.ipxe?mac=\${net0/mac}`);
  });

  it('is to give addresses of a range, also to nobody without a reservation', () => {
    const range = { from: '192.0.2.100', to: '192.0.2.200' };
    const lines = configuration({ ...network, range }, files).split('\n');
    expect(lines).toContain('dhcp-ignore=tag:!known');
    expect(lines).toContain('dhcp-range=192.0.2.100,192.0.2.200,255.255.254.0,10m');
  });
});

describe('whoever asks what to start', () => {
  let dir: string;
  let server: Server;
  const asked: string[] = [];
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`).then(async (answer) => [
      answer.status,
      await answer.text(),
    ]);
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'innkeeper-netboot-'));
    await writeFile(join(dir, 'kernel'), 'a kernel');
    await writeFile(join(dir, 'initrd'), 'an archive');
    const handler = netbootHandler({
      ...{ places, kernel: join(dir, 'kernel'), initrd: join(dir, 'initrd') },
      async answer(mac, from) {
        asked.push(`${mac} at ${from}`);
        return { start: 'rescue', token: 't' };
      },
    });
    server = createServer((request, response) => void handler(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.close();
    await rm(dir, { recursive: true });
  });

  it('gets a script for its MAC address, and the files that it names', async () => {
    const [status, script] = await get('/any/boot.ipxe?mac=52:54:00:BE:EF:01');
    expect([status, asked]).toEqual([200, ['52:54:00:be:ef:01 at 127.0.0.1']]);
    expect(script).toContain('innkeeper.token=t ');
    expect(await get('/any/kernel')).toEqual([200, 'a kernel']);
    expect(await get('/any/initrd')).toEqual([200, 'an archive']);
  });

  it('gets nothing else', async () => {
    for (const path of [
      '/',
      '/boot.ipxe',
      '/boot.ipxe?mac=../../etc',
      '/etc/passwd',
      '/boot.ipxe?mac=52:54:00:be:ef',
    ])
      expect(await get(path)).toEqual([404, '']);
    expect(asked).toHaveLength(1);
  });

  it('gets nothing for what is no path', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.end('GET // HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1.1 404 /);
  });
});
