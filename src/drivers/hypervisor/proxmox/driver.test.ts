import { describeHypervisor } from '../conformance.ts';
import { realCluster, reasonToSkip } from './real.testbed.ts';
import { proxmoxBed, reasonWithoutGuests } from './testbed.ts';

async function standIn() {
  const bed = await proxmoxBed(41);
  // Who presses its power button right after a start finds a guest that boots still, however busy the computer is.
  bed.state.bootMs = 1_500;
  return bed.underTest();
}

describeHypervisor('Proxmox VE', standIn, await reasonWithoutGuests());
describeHypervisor('a real Proxmox VE', () => realCluster(0), reasonToSkip());
