import { databaseDns, powerDns, type ReverseDns } from '../drivers/dns/index.ts';
import type { Hypervisor } from '../drivers/hypervisor/index.ts';
import type { AnySaga, Context, Routine } from '../platform/index.ts';
import { freeRestedAddresses } from './addresses.ts';
import { watchNodes } from './heartbeat.ts';
import { prepareImageSaga } from './prepareImage.ts';
import { reverseJob } from './reverse.ts';

/** What the fleet does outside a request. */
export function fleetJobs(hypervisorOf: (nodeId: number) => Hypervisor): AnySaga[] {
  return [reverseJob(dnsOf), prepareImageSaga(hypervisorOf)];
}

export const fleetRoutines: Routine[] = [
  { name: 'fleet.freeRestedAddresses', intervalMs: 60_000, work: freeRestedAddresses },
  { name: 'fleet.watchNodes', intervalMs: 5_000, work: watchNodes },
];

/** Where names of addresses are kept, by the configuration. */
function dnsOf({ config }: Context): ReverseDns {
  if (config.dnsUrl === null) return databaseDns();
  return powerDns({ url: config.dnsUrl, apiKey: config.dnsApiKey });
}
