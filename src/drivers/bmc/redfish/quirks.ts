import type { Press } from '../controls.ts';
import { type Resource, textAt } from './resource.ts';

/** How makers differ in what the standard leaves open, as it is commonly known of them: held against no document of theirs and no BMC. Each first server of a maker is to be held against it. */
export interface Quirks {
  /** As the service root's `Vendor` names the maker. */
  vendor: RegExp;
  /** By which reset each thing is done, the first that the BMC offers. */
  presses: Record<Press, readonly string[]>;
  /** Whether how to start (BIOS or UEFI) can be chosen together with what from. */
  choosesFirmware: boolean;
}

const standard: Omit<Quirks, 'vendor'> = {
  presses: {
    on: ['On', 'ForceOn'],
    off: ['ForceOff'],
    button: ['GracefulShutdown', 'PushPowerButton'],
    reset: ['ForceRestart', 'PowerCycle'],
  },
  choosesFirmware: true,
};

const table: readonly Quirks[] = [
  // iLO's graceful shutdown needs an agent in the system; its button does not.
  {
    vendor: /^HPE?$/i,
    ...standard,
    presses: { ...standard.presses, button: ['PushPowerButton', 'GracefulShutdown'] },
  },
  // iDRAC knows how a server starts as a setting of its BIOS alone.
  { vendor: /^Dell/i, ...standard, choosesFirmware: false },
];

export function quirksOf(root: Resource): Omit<Quirks, 'vendor'> {
  const vendor = textAt(root, 'Vendor') ?? '';
  return table.find((each) => each.vendor.test(vendor)) ?? standard;
}
