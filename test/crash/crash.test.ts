import { describeProvisionSweep } from './provisionSweep.ts';

describeProvisionSweep(1, 2);
