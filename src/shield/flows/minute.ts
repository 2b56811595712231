import type { Looked } from '../watch/samples.ts';
import type { Watched } from '../watch/watched.ts';
import { type Family, keyOf } from './flow.ts';
import { thin, type Weight } from './thin.ts';

/** So many flows of an address are kept of a minute; of more, as many stand for all. */
export const mostFlows = 1_000;
/** In memory, before chance takes some away. */
const gatheredAtMost = 4 * mostFlows;

/** The flows of one address within a minute, as far as it was one organization's. */
export interface AddressFlows {
  address: string;
  organizationId: number;
  family: Family;
  flows: Map<string, Weight>;
}

/** Of a node's addresses. */
export type MinuteFlows = Map<string, AddressFlows>;

/** Adds what samples show to a minute. */
export function addSamples(
  minute: MinuteFlows,
  samples: readonly Looked[],
  watched: ReadonlyMap<string, Pick<Watched, 'organization_id'>>,
): void {
  for (const { address, head, packets } of samples) {
    const organizationId = watched.get(address)?.organization_id;
    if (organizationId === undefined) continue;
    const place = `${organizationId} ${address}`;
    let there = minute.get(place);
    if (there === undefined) {
      const family = address.includes(':') ? 6 : 4;
      there = { address, organizationId, family, flows: new Map() };
      minute.set(place, there);
    }
    const key = keyOf(head, there.family);
    const weight = there.flows.get(key);
    if (weight === undefined) there.flows.set(key, { packets, samples: 1 });
    else {
      weight.packets += packets;
      weight.samples += 1;
    }
    if (there.flows.size > gatheredAtMost) there.flows = thin(there.flows, gatheredAtMost / 2);
  }
}
