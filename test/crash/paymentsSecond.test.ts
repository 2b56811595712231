import { describeChargeSweep } from './chargeSweep.ts';

describeChargeSweep(2, 2);
