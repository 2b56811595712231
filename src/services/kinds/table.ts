import { staffDeliveryWanted } from '../events.ts';
import { dedicated } from './dedicated.ts';
import { type Kind, kind } from './kind.ts';
import { optionSet } from './options.ts';
import { vps } from './vps.ts';

/** The product alone says which options there are, and no code reads them. */
const anyOptions = optionSet({});
const byHand = { options: anyOptions, means: null, deliver: staffDeliveryWanted };

/**
 * Every kind of service there is. Another one is a row here, its `moduleId` in `catalog/schema.ts` and in the check of
 * `products`, and the room that delivers it; without a room, staff delivers it by hand.
 */
export const kinds = {
  manual: kind({ id: 1, type: 'other', isServer: false, ...byHand }),
  vps,
  hosting: kind({ id: 3, type: 'hosting', isServer: false, ...byHand }),
  domain: kind({ id: 4, type: 'domain', isServer: false, ...byHand }),
  /** Of a product without servers of its own; {@link kindOf} knows the others. */
  dedicated: kind({ id: 5, type: 'dedicated', isServer: true, ...byHand }),
} as const satisfies Record<string, Kind>;

const byId = new Map<number, Kind>(Object.values(kinds).map((each) => [each.id, each]));

/**
 * The kind of a product or service, by its `moduleId`, and whether it is sold out of the rack, or was: that is delivered by a room, and
 * everything else of its `moduleId` by hand.
 */
export function kindOf(moduleId: number, onServer = false): Kind {
  if (onServer && moduleId === dedicated.id) return dedicated;
  const found = byId.get(moduleId);
  if (found === undefined) throw new Error(`there is no kind of service ${moduleId}`);
  return found;
}
