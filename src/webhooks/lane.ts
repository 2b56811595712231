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
const mostOfEndpoint = 32;
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
  const slow = new Set<number>();

  const counted = () => {
    const now = nowMs();
    const young = new Map<number, number>();
    const ofOrganization = new Map<number, number>();
    const ofEndpoint = new Map<number, number>();
    let youngInAll = 0;
    for (const { organizationId, endpointId, begunMs } of tries.values()) {
      count(ofOrganization, organizationId);
      count(ofEndpoint, endpointId);
      if (now - begunMs >= longMs) {
        remember(endpointId);
        continue;
      }
      count(young, organizationId);
      youngInAll += 1;
    }
    const limit = Math.min(places - youngInAll, mostInAll - tries.size);
    const isFull = (organizationId: number): boolean => {
      const held = young.get(organizationId) ?? 0;
      const all = ofOrganization.get(organizationId) ?? 0;
      return (
        held >= Math.ceil((places - youngInAll + held) / 2) ||
        all >= Math.min(mostOfOrganization, Math.ceil((mostInAll - tries.size + all) / 2))
      );
    };
    const isEndpointFull = (endpointId: number): boolean =>
      (ofEndpoint.get(endpointId) ?? 0) >= (slow.has(endpointId) ? mostOfSlow : mostOfEndpoint);
    return { limit, isFull, isEndpointFull, ofOrganization, ofEndpoint };
  };

  const remember = (endpointId: number): void => {
    if (slow.size >= mostRemembered) slow.clear();
    slow.add(endpointId);
  };

  return {
    room(): Room {
      const { limit, isFull, isEndpointFull, ofOrganization, ofEndpoint } = counted();
      return {
        limit,
        fullOrganizations: [...ofOrganization.keys()].filter(isFull),
        fullEndpoints: [...ofEndpoint.keys()].filter(isEndpointFull),
      };
    },
    /** Takes a place if there is one for it. */
    begin(id: number, organizationId: number, endpointId: number, isFailing: boolean): boolean {
      const { limit, isFull, isEndpointFull, ofEndpoint } = counted();
      const isTaken = isFailing && ofEndpoint.has(endpointId);
      if (limit <= 0 || isTaken || isFull(organizationId) || isEndpointFull(endpointId)) return false;
      tries.set(id, { organizationId, endpointId, begunMs: nowMs() });
      return true;
    },
    end(id: number): void {
      const ended = tries.get(id);
      if (ended === undefined) return;
      tries.delete(id);
      if (nowMs() - ended.begunMs >= longMs) remember(ended.endpointId);
      else slow.delete(ended.endpointId);
    },
  };
}

function count(counts: Map<number, number>, id: number): void {
  counts.set(id, (counts.get(id) ?? 0) + 1);
}
