import dgram from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openSwitches } from '../open.ts';
import { isSignedOrReport } from './signed.ts';

const element = (tag: number, ...parts: Buffer[]): Buffer => {
  const value = Buffer.concat(parts);
  const length = value.length < 128 ? [value.length] : [0x82, value.length >> 8, value.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
};
const number = (value: number) => {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(value, 1);
  return element(0x02, bytes);
};
const text = (value: string | Buffer) => element(0x04, Buffer.from(value as string));
const sequence = (...parts: Buffer[]) => element(0x30, ...parts);
const [getResponse, report] = [0xa2, 0xa8];
const engine = Buffer.from('80001f8880aabbccdd', 'hex');

/** A message of SNMPv3 in the clear, which says of itself what it is. */
function message(id: number, flags: number, pdu: number, oid: Buffer, value: Buffer): Buffer {
  const header = sequence(number(id), number(65_507), text(Buffer.from([flags])), number(3));
  const security = sequence(text(engine), number(1), number(100), text('innkeeper'), text(''), text(''));
  const binding = sequence(sequence(element(0x06, oid), value));
  const scoped = sequence(text(engine), text(''), element(pdu, number(id), number(0), number(0), binding));
  return sequence(number(3), header, text(security), scoped);
}

/** sysName.0, and the counter of engines that were not known. */
const systemName = Buffer.from('2b06010201010500', 'hex');
const unknownEngines = Buffer.from('2b060106030f01010400', 'hex');

/** The id of a message: the first number within its second part. */
function idOf(bytes: Buffer): number {
  const at = bytes.indexOf(Buffer.from([0x02, 0x01, 0x03, 0x30])) + 3;
  const header = bytes.subarray(at + 2);
  return header.readUIntBE(2, header[1] ?? 0);
}

describe('what nobody signed', () => {
  let stranger: dgram.Socket | null = null;
  afterEach(() => {
    stranger?.close();
    stranger = null;
  });

  it('is not taken for what the switch says, also when it says of itself that it needs no signature', async () => {
    let answered = 0;
    const socket = dgram.createSocket('udp4');
    stranger = socket;
    socket.on('message', (asked, from) => {
      const id = idOf(asked);
      const isFirst = answered++ === 0;
      const answer = isFirst
        ? message(id, 0, report, unknownEngines, element(0x41, Buffer.from([1])))
        : message(id, 0, getResponse, systemName, text('not your switch'));
      socket.send(answer, from.port, from.address);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const { port } = socket.address() as AddressInfo;
    const opened = openSwitches()({
      ...({ kind: 'snmp', address: '127.0.0.1', port, user: 'innkeeper', authProtocol: 'sha256' } as const),
      ...{ authPassphrase: 'auth-pass-123', privacyPassphrase: 'priv-pass-123' },
    });
    await expect(opened.identify({ timeoutMs: 1_000 })).rejects.toMatchObject({ code: 'switch_silent' });
    expect(answered).toBeGreaterThan(1);
  });

  it.each<[string, Buffer, boolean]>([
    ['a report in the clear', message(7, 0, report, unknownEngines, number(1)), true],
    ['an answer in the clear', message(7, 0, getResponse, systemName, text('x')), false],
    ['one that is signed and not encrypted', message(7, 1, getResponse, systemName, text('x')), false],
    ['one that says it is encrypted, and is not', message(7, 3, getResponse, systemName, text('x')), false],
    ['nothing', Buffer.alloc(0), false],
    ['a beginning', message(7, 0, report, unknownEngines, number(1)).subarray(0, 40), false],
    ['noise', Buffer.from('30848080808080', 'hex'), false],
  ])('is told apart: %s', (_what, bytes, is) => {
    expect(isSignedOrReport(bytes)).toBe(is);
  });
});
