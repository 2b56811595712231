import { addressText, flagsOf, type Head } from '../../drivers/edge/index.ts';
import { single } from '../prefix.ts';
import type { Family } from './flow.ts';
import { unpack } from './pack.ts';

/** A row of flows as its owner can read it: unpacked, in the words of the API. */
export function readable(row: Record<string, unknown>): Record<string, unknown> {
  const { family, first } = single(String(row.address));
  const packed = Buffer.from(String(row.flows).replace(/^\\x/, ''), 'hex');
  const destination = family === 4 ? Number(first) : first;
  const flows = unpack(packed, family, destination).map(({ head, packets, samples }) => {
    return { ...packetOf(head, family), packets, samples };
  });
  return { ...row, flows };
}

/** As requests name a packet, without its destination. */
export function packetOf(head: Head, family: Family) {
  const there = (value: number) => (value < 0 ? null : value);
  return {
    source: addressText(family, BigInt(head.source)),
    protocol: there(head.protocol),
    source_port: there(head.sourcePort),
    destination_port: there(head.destinationPort),
    flags: head.flags < 0 ? null : flagsOf(head.flags),
    ...{ dscp: head.dscp, ecn: head.ecn, ttl: head.ttl, length: head.length, fragment: head.fragment },
  };
}
