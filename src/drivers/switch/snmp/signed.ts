import dgram from 'node:dgram';

/**
 * Sockets for SNMPv3 that hand on only what is signed and encrypted, and reports, which come before anything can be. The library believes
 * an answer that says of itself that it is not signed: whoever sees our question could answer it in the switch's place.
 */
export const signedSockets = { createSocket: (type: dgram.SocketType) => signedSocket(type) };

function signedSocket(type: dgram.SocketType): dgram.Socket {
  const socket = dgram.createSocket(type);
  const on = socket.on.bind(socket);
  const guarded = (event: string, listener: (...args: never[]) => void) =>
    on(event, (event === 'message' ? onlySigned(listener) : listener) as (...args: unknown[]) => void);
  return Object.assign(socket, { on: guarded });
}

function onlySigned(listener: (...args: never[]) => void) {
  return (bytes: Buffer, from: dgram.RemoteInfo) => {
    if (isSignedOrReport(bytes)) (listener as unknown as typeof onlySignedListener)(bytes, from);
  };
}
declare function onlySignedListener(bytes: Buffer, from: dgram.RemoteInfo): void;

const [sequence, octets, report] = [0x30, 0x04, 0xa8];
const signedAndEncrypted = 0b11;

/** Of a message of SNMPv3 (RFC 3412 section 6): its flags say so, or what it holds in the clear is a report. */
export function isSignedOrReport(bytes: Buffer): boolean {
  const message = read(bytes, 0);
  if (message?.tag !== sequence) return false;
  const version = read(message.value, 0);
  const header = version && read(message.value, version.end);
  const security = header && read(message.value, header.end);
  const data = security && read(message.value, security.end);
  if (!header || !data || header.tag !== sequence) return false;
  const flags = third(header.value);
  if (flags?.tag !== octets || flags.value.length !== 1) return false;
  if (((flags.value[0] ?? 0) & signedAndEncrypted) === signedAndEncrypted) return data.tag === octets;
  return data.tag === sequence && third(data.value)?.tag === report;
}

interface Element {
  tag: number;
  value: Buffer;
  end: number;
}

function third(bytes: Buffer): Element | null {
  const first = read(bytes, 0);
  const second = first && read(bytes, first.end);
  return second && read(bytes, second.end);
}

/** One element of BER; null where there is no whole one. */
function read(bytes: Buffer, at: number): Element | null {
  const [tag, short] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || short === undefined) return null;
  const more = short & 0x80 ? short & 0x7f : 0;
  if (more > 4 || (short & 0x80 && more === 0) || at + 2 + more > bytes.length) return null;
  const length = more === 0 ? short : bytes.readUIntBE(at + 2, more);
  const from = at + 2 + more;
  const end = from + length;
  return end > bytes.length ? null : { tag, value: bytes.subarray(from, end), end };
}
