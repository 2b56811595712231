import { describeManagement } from '../managementConformance.ts';
import { realCluster, reasonToSkip } from './real.testbed.ts';
import { proxmoxBed, reasonWithoutGuests } from './testbed.ts';

describeManagement('Proxmox VE', async () => (await proxmoxBed(42)).underTest(), await reasonWithoutGuests());
describeManagement('a real Proxmox VE', () => realCluster(2), reasonToSkip());
