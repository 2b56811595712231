export const levels = ['off', 'low', 'medium', 'high'] as const;
export const modes = ['monitor', 'enabled'] as const;
export const mitigations = ['auto', 'permanent'] as const;
/** Kinds of attacks that have a threshold of their own. */
export const kinds = ['fragments', 'reflection', 'syn', 'ack', 'udp', 'icmp', 'other', 'total'] as const;

/** From where on a kind of traffic is an attack. Null: what the level says. */
export type Thresholds = {
  [Kind in (typeof kinds)[number]]?:
    | { pps?: number | null | undefined; mbps?: number | null | undefined }
    | null
    | undefined;
};
