import { sweepEvery } from './everyScenario.ts';
import { scenarios } from './scenarios.ts';

sweepEvery(scenarios, 'once');
