import { messageOf } from './netlink.ts';

// The kernel's log of packets, as programs may read it: linux/netfilter/nfnetlink_log.h
export const logMessages = { packet: 0x0400, config: 0x0401 } as const;
export const packetAttributes = { payload: 9, prefix: 10 } as const;
const config = { command: 1, mode: 2, buffer: 3, timeout: 4, threshold: 5 } as const;

/** Enough for the IP header, some extension headers and the ports. */
export const headBytes = 128;

/** Binds us to a group: heads alone, so many together in a message, after a tenth of a second at the latest. */
export function logOf(group: number, threshold: number): Buffer {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value, 0);
    return bytes;
  };
  return messageOf(logMessages.config, group, [
    [config.command, Buffer.from([1])],
    [config.mode, Buffer.concat([number(headBytes), Buffer.from([2, 0])])],
    [config.buffer, number(65_536)],
    [config.timeout, number(10)],
    [config.threshold, number(threshold)],
  ]);
}
