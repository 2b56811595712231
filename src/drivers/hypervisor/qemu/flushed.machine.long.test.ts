import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAsRoot } from '../../../platform/host/program.ts';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');

/** Debian's own nftables.service flushes all rules of a host whenever it is started or reloaded. */
describe.skipIf(skip !== null)('when somebody flushes the packet rules of a host whose machines run', () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;
  const answers = () =>
    bed.inGuest(spec, 'true').then(
      () => true,
      () => false,
    );
  const flush = () => runAsRoot(['nft', 'flush', 'ruleset']);
  /** All but what they have counted, and the handles that nft gives them. */
  const rules = async () =>
    (await runAsRoot(['nft', 'list', 'ruleset'])).stdout.replaceAll(/ packets \d+ bytes \d+/g, '');

  beforeAll(async () => {
    bed = await testbed(9, 'tiny', {});
    bed.options.bridge.nat = true;
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    spec = await bed.boot(hypervisor, 1);
  }, 300_000);
  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    bed?.remove();
  });

  it('guests can be reached and spoof nobody after the next start of the product', async () => {
    expect(await bed.spoofs(spec)).toBe(false);
    await flush();
    await hypervisor.close();
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    expect(await answers()).toBe(true);
    expect(await bed.spoofs(spec)).toBe(false);
  });

  it('they are held again once the driver has looked', async () => {
    await flush();
    expect(await bed.spoofs(spec)).toBe(true);
    await hypervisor.mend();
    expect(await bed.spoofs(spec)).toBe(false);
    expect(await answers()).toBe(true);
    const before = await rules();
    await hypervisor.mend();
    expect(await rules()).toEqual(before);
  });

  it('and the host forwards for them again, where something else has turned that off', async () => {
    const file = '/proc/sys/net/ipv4/ip_forward';
    expect(await readFile(file, 'utf8')).toBe('1\n');
    await runAsRoot(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=0']);
    await hypervisor.mend();
    expect(await readFile(file, 'utf8')).toBe('1\n');
  });
});
