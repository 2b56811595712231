import { describeChargeSweep } from './chargeSweep.ts';

describeChargeSweep(1, 2);
