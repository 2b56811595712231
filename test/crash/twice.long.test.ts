import { sweepEveryScenario } from './everyScenario.ts';

sweepEveryScenario('twice');
