import { describeHypervisor } from '../conformance.ts';
import { realCluster, reasonToSkip } from './real.testbed.ts';
import { proxmoxBed, reasonWithoutGuests } from './testbed.ts';

describeHypervisor('Proxmox VE', async () => (await proxmoxBed(41)).underTest(), await reasonWithoutGuests());
describeHypervisor('a real Proxmox VE', () => realCluster(0), reasonToSkip());
