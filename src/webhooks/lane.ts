/** A try that is under way. */
interface Try {
  organizationId: number;
  endpointId: number;
  begunMs: number;
}

/** Whose deliveries are not looked at now. */
export interface Room {
  /** How many may begin in all. */
  limit: number;
  fullOrganizations: number[];
  fullEndpoints: number[];
}

/** Tries in their first second. */
const places = 128;
const longMs = 1_000;
/** Of one organization, long ones as well. */
const mostOfOrganization = 64;
export const mostOfEndpoint = 32;
/** Of an endpoint whose answers take longer than a second. */
const mostOfSlow = 4;
/** A bound for memory: tries that last hold no place. */
const mostInAll = 2_048;
const mostRemembered = 10_000;

/**
 * Who may begin a try: whoever is slow or dead waits by itself. A try holds one of the places for its first second only;
 * nobody gets more than half of the places that others leave, so that there is always one for whoever comes next; and an
 * endpoint that was slow last, or that fails, has few tries or one at a time until it is well again.
 */
export function createLane(nowMs: () => number = () => performance.now()) {
  const tries = new Map<number, Try>();
  /** Those of `tries` in their first second, in the order in which they began. */
  const young = new Map<number, Try>();
  const youngOf = new Map<number, number>();
  const ofOrganization = new Map<number, number>();
  const ofEndpoint = new Map<number, number>();
  const slow = new Set<number>();

  const age = (): void => {
    const before = nowMs() - longMs;
    for (const [id, each] of young) {
      if (each.begunMs > before) return;
      grow(id, each);
      remember(each.endpointId);
    }
  };

  const grow = (id: number, { organizationId }: Try): void => {
    if (young.delete(id)) count(youngOf, organizationId, -1);
  };

  const remember = (endpointId: number): void => {
    if (slow.size >= mostRemembered) slow.clear();
    slow.add(endpointId);
  };

  const limit = (): number => Math.min(places - young.size, mostInAll - tries.size);
  const isFull = (organizationId: number): boolean => {
    const held = youngOf.get(organizationId) ?? 0;
    const all = ofOrganization.get(organizationId) ?? 0;
    return (
      held >= Math.ceil((places - young.size + held) / 2) ||
      all >= Math.min(mostOfOrganization, Math.ceil((mostInAll - tries.size + all) / 2))
    );
  };
  const isEndpointFull = (endpointId: number): boolean =>
    (ofEndpoint.get(endpointId) ?? 0) >= (slow.has(endpointId) ? mostOfSlow : mostOfEndpoint);

  return {
    room(): Room {
      age();
      return {
        limit: limit(),
        fullOrganizations: [...ofOrganization.keys()].filter(isFull),
        fullEndpoints: [...ofEndpoint.keys()].filter(isEndpointFull),
      };
    },
    /** Takes a place if there is one for it. */
    begin(id: number, organizationId: number, endpointId: number, isFailing: boolean): boolean {
      age();
      const isTaken = isFailing && ofEndpoint.has(endpointId);
      if (limit() <= 0 || isTaken || isFull(organizationId) || isEndpointFull(endpointId)) return false;
      const begun = { organizationId, endpointId, begunMs: nowMs() };
      tries.set(id, begun);
      young.set(id, begun);
      for (const counts of [youngOf, ofOrganization]) count(counts, organizationId, 1);
      count(ofEndpoint, endpointId, 1);
      return true;
    },
    end(id: number): void {
      const ended = tries.get(id);
      if (ended === undefined) return;
      tries.delete(id);
      grow(id, ended);
      count(ofOrganization, ended.organizationId, -1);
      count(ofEndpoint, ended.endpointId, -1);
      if (nowMs() - ended.begunMs >= longMs) remember(ended.endpointId);
      else slow.delete(ended.endpointId);
    },
  };
}

/** Whoever has none is not in it. */
function count(counts: Map<number, number>, id: number, by: number): void {
  const now = (counts.get(id) ?? 0) + by;
  if (now === 0) counts.delete(id);
  else counts.set(id, now);
}
