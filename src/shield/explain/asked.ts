import type { TcpFlag } from '../../drivers/edge/index.ts';

/** A packet as somebody asks about it; what is left out is as it mostly is. */
export interface Asked {
  source: string;
  destination: string;
  protocol: number;
  source_port?: number | null | undefined;
  destination_port?: number | null | undefined;
  flags?: readonly TcpFlag[] | null | undefined;
  dscp?: number | null | undefined;
  ecn?: number | null | undefined;
  ttl?: number | null | undefined;
  length?: number | null | undefined;
  fragment?: boolean | null | undefined;
}
