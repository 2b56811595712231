import { sweepEveryScenario } from './everyScenario.ts';

sweepEveryScenario('once');
