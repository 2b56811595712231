/**
 * An edge stands in front of addresses and filters the packets to them. Rules every engine keeps:
 * - It keeps no truth of its own: a policy arrives whole with each call and has a generation. Any call may be
 *   repeated, and an older generation never replaces a newer one; such a call changes nothing and succeeds.
 * - What an edge lets go of it forgets, the generation with it: after `remove` of a policy and its trial, after `release` of a
 *   measure, after `takeBack` or the end of a trial, any generation is the first. So whoever lets go sees to it that no older
 *   call is still under way, or sets instead a policy or a filter without rules in a newer generation, which is remembered.
 *   Measures count their generations apart from policies, and neither call touches the other's.
 * - The policies of one call come into force together, or none of them does.
 * - While a policy is replaced, each packet meets the one before or the one after, and is counted once.
 * - A trial ends by itself, also when nobody is left who could end it.
 * - What cannot be said exactly in the engine's own terms is refused and never approximated.
 * - Filtering is stateless. Text of customers never gets here: rules are numbers.
 * - Failures are `EdgeError`s; `permanent` says whether trying again can help.
 */
export interface Edge {
  /** Which engine this is: `nftables`, `bgp`, `memory`. */
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
  /** Lets go of destinations, of these generations and older, tried out or in force: their packets pass. */
  remove(versions: readonly Version[]): Promise<void>;
  /**
   * All that is in force or tried out, whole. What was damaged from outside is not listed: the same call again mends it, in the
   * same generation, and what is left of it filters until then.
   */
  list(): Promise<Held[]>;

  /**
   * How often rules matched, of these destinations or of all. Counting begins with each writing of a policy, and a
   * writing that is over counts no more and is listed until it is forgotten. So who adds up what each writing reached,
   * and forgets it only after writing that down, misses no packet and counts none twice, also over a crash.
   */
  readRules(destinations?: readonly string[]): Promise<RuleCount[]>;
  /** Drops the counters of writings that are over; others stay as they are. */
  forget(writings: readonly string[]): Promise<void>;
  /**
   * What was sent to the addresses held, by a policy, a trial or only a measure, before any rule. A count may begin at zero again
   * after minutes of silence.
   */
  readTraffic(): Promise<Traffic>;
  /**
   * Heads of packets to the addresses held, before any rule, since the call before; the first one begins it. One in so many as the
   * load allows, said with each: what any part of them stands for adds up to what was sent of that part, as near as chance
   * allows. What nobody fetches is forgotten, the oldest first. `not_supported` without `samples`.
   */
  readSamples(): Promise<Sample[]>;

  /**
   * The next packets of a kind, and what decided on each as it came by: at most so many, for at most so many seconds. Where fewer
   * come, fewer are told. `not_supported` without `trace`.
   */
  trace(kind: PacketKind, until: TraceBounds): Promise<Traced[]>;

  /** Sets a measure against an attack before the policy of its destination, in place of the one before. */
  mitigate(mitigation: Mitigation): Promise<void>;
  /** Takes measures away, of these generations and older. */
  release(versions: readonly Version[]): Promise<void>;

  close(): Promise<void>;
}

/**
 * - `rules`: every rule in every order; without it those that the engine has no words for are `not_supported`, with the reason.
 * - `trials`: `try`, `confirm` and `takeBack`.
 * - `counters`: `readRules` counts every packet; `traffic`: so does `readTraffic`; `samples`: `readSamples`.
 * - `trace`: `trace`.
 * - `limits`: of rates by rule and destination; `limits_by_source`: by source as well.
 * - `bridged`: the policy also holds between two guests of one bridge.
 * - `blackholes`: measures of that kind; `synproxy`: the edge answers for the guest who opens a connection.
 */
export type EdgeCapability =
  | 'rules'
  | 'trials'
  | 'counters'
  | 'traffic'
  | 'samples'
  | 'trace'
  | 'limits'
  | 'limits_by_source'
  | 'bridged'
  | 'blackholes'
  | 'synproxy';

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
  /**
   * Of `source`: what becomes of sources beyond those that an engine has room for. They share one rate, unless they are to be
   * permitted: where sources are false, a rate that all of them share is one of the destination.
   */
  beyond?: 'shared' | 'permitted';
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
  /**
   * Null is what no rule of a policy matched, all that a blackhole swallowed, and each SYN that the edge answered for a guest. Of a
   * filter what goes past it is not counted.
   */
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
  /** The protocol of `protocol`, 255 for all but a few (`counted.ts`), the source port of `reflection`; null otherwise. */
  of: number | null;
  packets: number;
  bytes: number;
}

/** `protocol`: every packet whose protocol can be told, by protocol; the others are parts of it, but for parts of packets where it cannot. `syn`: TCP that opens. `reflection`: UDP from ports that reflect. */
export type TrafficKind = 'protocol' | 'syn' | 'fragment' | 'reflection';

export interface Sample {
  packet: Packet;
  /** How many packets this one stands for. */
  standsFor: number;
}

export interface PacketKind {
  destination: Prefix;
  /** Its destination, if any, is a part of that. */
  match: Match;
}

/** From 1 to 20 packets, from 1 to 10 seconds. */
export interface TraceBounds {
  packets: number;
  seconds: number;
}

export interface Traced {
  packet: Packet;
  action: Action;
  /** The policy or the measure that had the last word, and the rule by which it did, as in `RuleCount`; null where nothing holds the address. */
  by: (Version & { of: 'policy' | 'mitigation'; rule: number | null }) | null;
}

/** What rules can see of a packet. */
export interface Packet {
  source: string;
  destination: string;
  /**
   * Null where it cannot be told: in IPv6, behind extension headers that are not all there, as in a later part of a packet. It
   * then has neither ports nor flags, and matches only rules that name none of the three.
   */
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
 *
 * `synproxy` are TCP ports at which the edge itself answers a SYN that the policy permits, and keeps nothing of it: it opens the
 * connection to the guest once the sender has said that it heard the answer, which a false one cannot. Exempt sources are led on as they come.
 * Connections that were there before go on, and those made so go on after the measure is over. They have no window scaling, SACK and
 * timestamps, as the edge could not keep what was asked for. Between guests of one bridge nothing is answered.
 */
export type Measure =
  | { kind: 'filter'; rules: readonly Rule[]; exempt: readonly Prefix[]; synproxy?: Ranges }
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
  | 'edge_refused'
  /** There is no engine where the addresses are. */
  | 'nothing_filters';

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
