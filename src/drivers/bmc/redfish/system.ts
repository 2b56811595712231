import type { BootFrom, NextBoot, ServerPower } from '../contract.ts';
import type { Press } from '../controls.ts';
import { BmcError } from '../failure.ts';
import type { Redfish } from './client.ts';
import type { Places } from './places.ts';
import { quirksOf } from './quirks.ts';
import { at, checkedPath, textAt, textsAt } from './resource.ts';

const targets: Record<BootFrom, string> = { network: 'Pxe', disk: 'Hdd' };
const action = '#ComputerSystem.Reset';

export async function readPower(redfish: Redfish, { system }: Places, leftMs: number): Promise<ServerPower> {
  const power = textAt(await redfish.get(system, leftMs), 'PowerState');
  // On its way it is still what it was.
  if (power === 'On' || power === 'PoweringOff') return 'on';
  if (power === 'Off' || power === 'PoweringOn') return 'off';
  throw new BmcError('answer_invalid', 'the BMC does not say whether its server is on');
}

export async function press(
  redfish: Redfish,
  { root, system }: Places,
  what: Press,
  leftMs: number,
): Promise<void> {
  const endsMs = performance.now() + leftMs;
  const resource = await redfish.get(system, leftMs);
  const offered = textsAt(resource, 'Actions', action, 'ResetType@Redfish.AllowableValues');
  const ways = quirksOf(root).presses[what];
  const type = ways.find((way) => offered.includes(way)) ?? ways[0];
  const target = checkedPath(at(resource, 'Actions', action, 'target'));
  await redfish.post(target, { ResetType: type }, endsMs - performance.now());
}

export async function readBoot(
  redfish: Redfish,
  { system }: Places,
  leftMs: number,
): Promise<BootFrom | null> {
  const resource = await redfish.get(system, leftMs);
  if (textAt(resource, 'Boot', 'BootSourceOverrideEnabled') === 'Disabled') return null;
  const target = textAt(resource, 'Boot', 'BootSourceOverrideTarget');
  if (target === targets.network) return 'network';
  return target === targets.disk ? 'disk' : null;
}

export async function setBoot(
  redfish: Redfish,
  { root, system }: Places,
  boot: NextBoot | null,
  leftMs: number,
): Promise<void> {
  const choice =
    boot === null
      ? { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideTarget: 'None' }
      : { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: targets[boot.from] };
  const mode = { BootSourceOverrideMode: boot?.firmware === 'uefi' ? 'UEFI' : 'Legacy' };
  const whole = boot !== null && quirksOf(root).choosesFirmware ? { ...choice, ...mode } : choice;
  await redfish.patch(system, { Boot: whole }, leftMs);
}
