import type { SwitchCapability } from './contract.ts';
import { SwitchError } from './failure.ts';

const words: Record<SwitchCapability, string> = {
  vlans:
    'It cannot be told which VLAN a port is in. Set up its ports so that none reaches another: what keeps servers apart is then its own configuration',
};

/** What it means that a switch lacks something, and what to do, in a sentence for staff. */
export function lackOf(capability: SwitchCapability): string {
  return words[capability];
}

export function notSupported(capability: SwitchCapability): SwitchError {
  return new SwitchError('not_supported', lackOf(capability));
}
