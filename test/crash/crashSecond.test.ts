import { describeProvisionSweep } from './provisionSweep.ts';

describeProvisionSweep(2, 2);
