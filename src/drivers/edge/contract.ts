/**
 * An edge stands in front of addresses and filters the packets to them. Rules every engine keeps:
 * - It keeps no truth of its own: a policy arrives whole with each call and has a generation. Any call may be
 *   repeated, and an older generation never replaces a newer one; such a call changes nothing and succeeds.
 * - The policies of one call come into force together, or none of them does.
 * - While a policy is replaced, each packet meets the one before or the one after, and is counted once.
 * - A trial ends by itself, also when nobody is left who could end it.
 * - What cannot be said exactly in the engine's own terms is refused and never approximated.
 * - Filtering is stateless. Text of customers never gets here: rules are numbers.
 * - Failures are `EdgeError`s; `permanent` says whether trying again can help.
 */
export interface Edge {
  /** Which engine this is: `nftables`, `memory`. */
  readonly kind: string;
  /** What it can of all that one may lack; conformance holds it to this. */
  readonly capabilities: readonly EdgeCapability[];

  /** Puts policies in force. One that is newer than the trial of its destination ends that. `overlaps` where another destination holds some of the same addresses. */
  replace(policies: readonly Policy[]): Promise<void>;
  /** The same for some seconds; then what was in force is so again. A destination has one trial, the newest. */
  try(policies: readonly Policy[], seconds: number): Promise<void>;
  /** What is tried out stays in force, for all of these or none: `trial_over` when one of them is not tried out any more. */
  confirm(versions: readonly Version[]): Promise<void>;
  /** Ends trials at once, of these generations and older. */
  takeBack(versions: readonly Version[]): Promise<void>;
  /**
   * Lets go of destinations, of these generations and older: their packets pass. The generation is forgotten with them,
   * so whoever calls sees to it that no older call is still under way; a policy without rules keeps its generation.
   */
  remove(versions: readonly Version[]): Promise<void>;
  /** All that is in force or tried out, whole; what was damaged from outside is not listed. */
  list(): Promise<Held[]>;

  /**
   * How often rules matched, of these destinations or of all. Counting begins with each writing of a policy, and a
   * writing that is over counts no more and is listed until it is forgotten. So who adds up what each writing reached,
   * and forgets it only after writing that down, misses no packet and counts none twice, also over a crash.
   */
  readRules(destinations?: readonly string[]): Promise<RuleCount[]>;
  /** Drops the counters of writings that are over; others stay as they are. */
  forget(writings: readonly string[]): Promise<void>;
  /** What was sent to the addresses held, before any rule. A count may begin at zero again after minutes of silence. */
  readTraffic(): Promise<Traffic>;
  /** Heads of packets, one in some. `not_supported` without `samples`. */
  readSamples(): Promise<Sample[]>;

  /** Sets a measure against an attack before the policy of its destination, in place of the one before. */
  mitigate(mitigation: Mitigation): Promise<void>;
  /** Takes measures away, of these generations and older. */
  release(versions: readonly Version[]): Promise<void>;

  close(): Promise<void>;
}

/**
 * - `trials`: `try`, `confirm` and `takeBack`.
 * - `counters`: `readRules` counts every packet; `traffic`: so does `readTraffic`; `samples`: `readSamples`.
 * - `limits`: of rates by rule and destination; `limits_by_source`: by source as well.
 * - `bridged`: the policy also holds between two guests of one bridge.
 * - `blackholes`: measures of that kind.
 */
export type EdgeCapability =
  | 'trials'
  | 'counters'
  | 'traffic'
  | 'samples'
  | 'limits'
  | 'limits_by_source'
  | 'bridged'
  | 'blackholes';

/** A network in CIDR form, without host bits: `203.0.113.10/32`, `2001:db8:7::/64`. Without a length: one address. */
export type Prefix = string;

/** What an address's packets meet. Destinations that an edge holds do not overlap; a rule may narrow its own. */
export interface Policy {
  destination: Prefix;
  /** Counts up over all that was ever wanted of this destination. */
  generation: number;
  /** In order: the first that matches decides. */
  rules: readonly Rule[];
  /** For what no rule matches. */
  unmatched: Action;
}

export type Action = 'permit' | 'deny';

export interface Rule {
  /** Within 31 bits, from 1 on; no other rule of the policy has it. */
  id: number;
  action: Action;
  match: Match;
  /** Of a rule that permits: what comes above it is dropped. */
  limit: Limit | null;
}

/** All of these have to hold; what is absent holds always. */
export interface Match {
  /** Any of these networks. */
  sources?: readonly Prefix[];
  /** A part of the policy's destination. */
  destination?: Prefix;
  /** Upper-layer protocol, as on the wire: ICMP is 1 in IPv4 and 58 in IPv6. In IPv6 the one after all extension headers. */
  protocols?: Ranges;
  /** Of TCP and UDP. Later fragments of a packet have none and do not match. */
  sourcePorts?: Ranges;
  destinationPorts?: Ranges;
  /** Of TCP: whether each is set. */
  flags?: Partial<Record<TcpFlag, boolean>>;
  dscp?: Ranges;
  ecn?: Ranges;
  /** Time to live, or the hop limit, as it arrives. */
  ttl?: Ranges;
  /** Bytes of the whole IP packet with its header. */
  lengths?: Ranges;
  /** Whether it is a part of a packet, the first one included. In IPv6: whether it has a fragment header. */
  fragment?: boolean;
}

/** From and to, both included. Any of them. */
export type Ranges = readonly (readonly [number, number])[];

export type TcpFlag = 'fin' | 'syn' | 'rst' | 'psh' | 'ack' | 'urg';

/** At least one of the rates. */
export interface Limit {
  packetsPerSecond?: number;
  bitsPerSecond?: number;
  /** What has a rate of its own: the rule in its policy, each source, or each address of the destination. */
  per: 'rule' | 'source' | 'destination';
  /** Packets that may come at once, above the rate. Of bits, an engine may let through a second's worth more at first. */
  burst: number;
}

/** Names what a call is about. */
export interface Version {
  destination: Prefix;
  generation: number;
}

export interface Held extends Version {
  /** `trial` comes beside the `policy` that is in force again after it, where there is one. */
  as: 'policy' | 'trial' | 'mitigation';
  /** Of a trial: milliseconds until it ends by itself. */
  endsInMs: number | null;
}

export interface RuleCount extends Version {
  of: 'policy' | 'mitigation';
  /** One text of this policy in the engine; never used again. */
  writing: string;
  isOver: boolean;
  /** Null is what no rule matched; of a mitigation, what a blackhole swallowed. */
  rule: number | null;
  packets: number;
  /** Of whole IP packets. */
  bytes: number;
  /** Of the packets: those above the rule's limit. */
  droppedPackets: number;
  droppedBytes: number;
}

export interface Traffic {
  addresses: AddressTraffic[];
  /** A kind of which more was to be counted than there is room for: others of it are missing. */
  full: TrafficKind[];
}

export interface AddressTraffic {
  address: string;
  kind: TrafficKind;
  /** The protocol of `protocol`, the source port of `reflection`; null otherwise. */
  of: number | null;
  packets: number;
  bytes: number;
}

/** `protocol`: every packet, by protocol; the others are parts of it. `syn`: TCP that opens. `reflection`: UDP from ports that reflect. */
export type TrafficKind = 'protocol' | 'syn' | 'fragment' | 'reflection';

export interface Sample {
  packet: Packet;
  /** How many packets this one stands for. */
  standsFor: number;
}

/** What rules can see of a packet. */
export interface Packet {
  source: string;
  destination: string;
  /** Null where it cannot be told, as behind headers that nobody knows. */
  protocol: number | null;
  /** Null where there are none: of other protocols, and of later fragments. */
  ports: { source: number; destination: number } | null;
  /** Of TCP; null otherwise, and of later fragments. */
  flags: readonly TcpFlag[] | null;
  dscp: number;
  ecn: number;
  ttl: number;
  length: number;
  fragment: boolean;
}

/** Counts its generations by itself, apart from policies. */
export interface Mitigation extends Version {
  measure: Measure;
}

/**
 * `filter`: rules before those of the policy. What they permit, and what they do not match, goes on to the policy, and so does
 * all that comes from `exempt`. `blackhole`: nothing gets through.
 */
export type Measure =
  | { kind: 'filter'; rules: readonly Rule[]; exempt: readonly Prefix[] }
  | { kind: 'blackhole' };

export type EdgeErrorCode =
  /** Not a policy, not a network, or not of the destination's family. */
  | 'policy_invalid'
  /** Another destination holds some of the same addresses. */
  | 'overlaps'
  /** The engine has no such ability; see `capabilities`. */
  | 'not_supported'
  /** There is nothing left to confirm. */
  | 'trial_over'
  /** The engine did not do it; what was in force stays so. */
  | 'edge_refused';

/** A failed call. `message` is for staff and logs. */
export class EdgeError extends Error {
  readonly code: EdgeErrorCode;
  /** True when repeating the call cannot help. */
  readonly permanent: boolean;
  constructor(code: EdgeErrorCode, message: string, options: { permanent?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.permanent = options.permanent ?? false;
  }
}
