import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rackTree, withoutRack } from '../../../test/rack/here.ts';
import { openRackNetwork, type RackNetwork } from '../../../test/rack/network.ts';
import { programIn, surroundings } from '../../../test/unpacked.ts';
import { openNetboot } from './dnsmasq.ts';

if (withoutRack) console.warn(`dnsmasq is not tested: ${withoutRack}`);

describe.skipIf(withoutRack !== null)('dnsmasq', () => {
  let dir: string;
  let network: RackNetwork;
  const warnings: string[] = [];
  const open = () =>
    openNetboot({
      ...{ dir, programs: dir, program: programIn(rackTree, 'dnsmasq'), env: surroundings(rackTree) },
      ...{ interface: network.bridge, address: network.address, prefix: 24, gateway: network.address },
      ...{ range: null, script: 'http://192.0.2.1/boot.ipxe' },
      log: { warn: (message) => void warnings.push(message) },
    });
  const pid = () => readFile(join(dir, 'pid'), 'utf8').then(Number, () => null);
  const isThere = async (process: number | null) =>
    (await readFile(`/proc/${process}/comm`, 'utf8').catch(() => '')).trim() === 'dnsmasq';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'innkeeper-dnsmasq-'));
    network = await openRackNetwork(5);
  });
  afterEach(async () => {
    await network.close();
    await rm(dir, { recursive: true });
  });

  it('is started again when it ends, keeps its reservations, and is gone with us', async () => {
    const netboot = await open();
    await expect.poll(async () => isThere(await pid())).toBe(true);
    await netboot.reserve('52:54:00:be:ef:01', '10.78.5.50');
    const first = await pid();
    process.kill(first ?? 0, 'SIGKILL');
    await expect.poll(async () => (await pid()) !== first && isThere(await pid())).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('dnsmasq is started again')]);
    expect(await readFile(join(dir, 'reservations/525400beef01'), 'utf8')).toBe(
      '52:54:00:be:ef:01,10.78.5.50\n',
    );
    await netboot.release('52:54:00:be:ef:01');
    await expect(readFile(join(dir, 'reservations/525400beef01'))).rejects.toThrow('ENOENT');
    const last = await pid();
    await netboot.close();
    expect(await isThere(last)).toBe(false);
  });

  it('that an earlier process left is ended first, so that no server is answered twice', async () => {
    const left = await open();
    await expect.poll(async () => isThere(await pid())).toBe(true);
    const before = await pid();
    const mine = await open();
    await expect.poll(() => isThere(before)).toBe(false);
    await Promise.all([left.close(), mine.close()]);
  });

  it('knows whom it reserved for, and admits everybody only for as long as it was told to', async () => {
    const netboot = await open();
    await netboot.reserve('52:54:00:be:ef:02', null);
    await netboot.reserve('52:54:00:be:ef:01', '10.78.5.50');
    await netboot.admitStrangers(true);
    expect(await netboot.reserved()).toEqual(['52:54:00:be:ef:01', '52:54:00:be:ef:02']);
    expect(await readFile(join(dir, 'reservations/525400beef02'), 'utf8')).toBe('52:54:00:be:ef:02\n');
    expect(await readFile(join(dir, 'reservations/everybody'), 'utf8')).toBe('*:*:*:*:*:*\n');
    await netboot.close();
    // Whom a process admitted that is gone the next one does not.
    const next = await open();
    await expect(readFile(join(dir, 'reservations/everybody'))).rejects.toThrow('ENOENT');
    await next.admitStrangers(true);
    await next.admitStrangers(false);
    await expect(readFile(join(dir, 'reservations/everybody'))).rejects.toThrow('ENOENT');
    await next.close();
  });

  it('reserves nothing that is no MAC address or no address', async () => {
    const netboot = await open();
    await expect(netboot.reserve('../../x', '10.78.5.50')).rejects.toThrow('not a MAC address');
    await expect(netboot.reserve('52:54:00:be:ef:01', '10.78.5.50\nx')).rejects.toThrow(
      'not an IPv4 address',
    );
    await netboot.close();
  });
});
