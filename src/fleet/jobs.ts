import type { AnySaga, PeriodicJob } from '../platform/index.ts';
import { freeRestedAddresses, nextRested } from './addresses.ts';
import { provingRescue } from './assignments/proveRescue.ts';
import { clusterCheck, clusterCheckPeriodicJob } from './clusters/check.ts';
import { clusterImage } from './clusters/images.ts';
import { noteDays } from './days.ts';
import { forgetArrivals } from './enrolment/arrivals.ts';
import { enrolment } from './enrolment/enrol.ts';
import { findingPorts } from './enrolment/findPorts.ts';
import { forgetStarts } from './enrolment/starts.ts';
import { nextToHear, watchNodes } from './heartbeat.ts';
import { imagePreparation } from './prepareImage.ts';
import { reverseNaming } from './reverse.ts';
import { askingBmc, askingBmcsPeriodicJob } from './servers/life.ts';
import { switchingServer } from './servers/power.ts';
import { readingBmc, readingBmcsPeriodicJob } from './servers/readings.ts';
import { switchReading, switchReadingPeriodicJob } from './switches/read.ts';
import { tellingNames } from './tellNames.ts';
import { emptyTrafficPeriodicJob } from './traffic/empty.ts';

/** What is done to servers, of which any may be somebody's: after a restore a person goes on with it. */
export const fleetJobsToHold: AnySaga[] = [switchingServer, enrolment];

/** What the fleet does outside a request. */
export const fleetJobs: AnySaga[] = [
  reverseNaming,
  imagePreparation,
  clusterCheck,
  clusterImage,
  switchReading,
  askingBmc,
  readingBmc,
  findingPorts,
  provingRescue,
  ...fleetJobsToHold,
];

export const fleetPeriodicJobs: PeriodicJob[] = [
  {
    name: 'fleet.freeRestedAddresses',
    intervalMs: 60_000,
    due: nextRested,
    netMs: 600_000, // those that rest for too long
    work: freeRestedAddresses,
  },
  { name: 'fleet.noteDays', intervalMs: 600_000, work: noteDays },
  tellingNames,
  clusterCheckPeriodicJob,
  switchReadingPeriodicJob,
  askingBmcsPeriodicJob,
  readingBmcsPeriodicJob,
  emptyTrafficPeriodicJob,
  { name: 'fleet.forgetStarts', intervalMs: 600_000, work: forgetStarts },
  { name: 'fleet.forgetArrivals', intervalMs: 3_600_000, work: forgetArrivals },
];

/** What is looked after also where no jobs are done. */
export const fleetWatches: PeriodicJob[] = [
  { name: 'fleet.watchNodes', intervalMs: 5_000, due: nextToHear, work: watchNodes },
];
