import { expect } from 'vitest';
import { type HypervisorCapability, hypervisorCapabilities } from './capabilities.ts';
import type { Hypervisor, MachineSpec } from './contract.ts';

/** Calls that need an ability, on a machine that is stopped, or running where the call wants that. */
const needing: Record<
  Exclude<HypervisorCapability, 'live_resize'>,
  (driver: Hypervisor, spec: MachineSpec) => Promise<unknown>[]
> = {
  snapshots: (driver, { id }) => [
    driver.createSnapshot(id, 'lacking'),
    driver.restoreSnapshot(id, 'lacking'),
  ],
  backups: (driver, spec) => [driver.createBackup(spec.id, 'lacking'), driver.restoreBackup(spec, 'lacking')],
  rescue: (driver, spec) => [driver.start({ ...spec, boot: 'rescue' })],
  netboot: (driver, spec) => [driver.start({ ...spec, boot: 'network' })],
  vnc: (driver, { id }) => [driver.openConsole(id, 'vnc'), driver.readScreen(id)],
  serial: (driver, { id }) => [driver.openConsole(id, 'serial')],
  guest_agent: (driver, { id }) => [
    driver.setPassword(id, '$6$lacking$hash'),
    driver.setAuthorizedKeys(id, []),
    driver.setHostname(id, 'lacking'),
  ],
};

/**
 * Holds an engine to what it does not claim: such calls are refused for good, on a running and on a stopped machine,
 * and leave everything as it was. The machine is stopped before and after.
 */
export async function refusesWhatItLacks(driver: Hypervisor, spec: MachineSpec): Promise<void> {
  const lacking = hypervisorCapabilities.filter((each) => !driver.capabilities.includes(each));
  const refused = expect.objectContaining({ code: 'not_supported', permanent: true });
  const everyLackingCall = async () => {
    for (const each of lacking) {
      if (each === 'live_resize') continue;
      for (const call of needing[each](driver, spec)) await expect(call, each).rejects.toEqual(refused);
    }
  };
  const seen = async () => [
    await driver.list(),
    await driver.listSnapshots(spec.id),
    await driver.listBackups(spec.id),
  ];
  const stopped = await seen();
  await everyLackingCall();
  expect(await seen()).toEqual(stopped);
  await driver.start(spec);
  const running = await seen();
  await everyLackingCall();
  if (lacking.includes('live_resize')) {
    const larger = { ...spec, diskGib: spec.diskGib + 1 };
    await expect(driver.resize(larger)).rejects.toMatchObject({ code: 'not_stopped', permanent: true });
  }
  expect(await seen()).toEqual(running);
  await driver.powerOff(spec.id);
}
