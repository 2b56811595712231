import type { AnySaga, PeriodicJob } from '../platform/index.ts';
import { freeRestedAddresses } from './addresses.ts';
import { clusterCheck, clusterCheckPeriodicJob } from './clusters/check.ts';
import { clusterImage } from './clusters/images.ts';
import { noteDays } from './days.ts';
import { watchNodes } from './heartbeat.ts';
import { imagePreparation } from './prepareImage.ts';
import { reverseNaming } from './reverse.ts';
import { askingBmc, askingBmcsPeriodicJob } from './servers/life.ts';
import { switchReading, switchReadingPeriodicJob } from './switches/read.ts';
import { tellingNames } from './tellNames.ts';

/** What the fleet does outside a request. */
export const fleetJobs: AnySaga[] = [
  reverseNaming,
  imagePreparation,
  clusterCheck,
  clusterImage,
  switchReading,
  askingBmc,
];

export const fleetPeriodicJobs: PeriodicJob[] = [
  { name: 'fleet.freeRestedAddresses', intervalMs: 60_000, work: freeRestedAddresses },
  { name: 'fleet.noteDays', intervalMs: 600_000, work: noteDays },
  tellingNames,
  clusterCheckPeriodicJob,
  switchReadingPeriodicJob,
  askingBmcsPeriodicJob,
];

/** What every process looks after, also one that does no jobs. */
export const fleetWatches: PeriodicJob[] = [
  { name: 'fleet.watchNodes', intervalMs: 5_000, work: watchNodes },
];
