import type { Action } from '../contract.ts';
import { type Network, parsePrefix, prefixText } from '../prefix.ts';
import { decodeFlow } from './nlri.ts';
import type { Told } from './told.ts';

/**
 * What gobgpd keeps for us beside the routes: of each policy and each measure its generation, and what it has routers told. In
 * its table of keys and values, which routers never get to see, and which is gone whenever the routes are.
 */
export interface Note {
  as: 'policy' | 'mitigation';
  network: Network;
  generation: number;
  told: readonly Told[];
  blackhole: boolean;
}

const prefix = 'innkeeper edge';
const keyLength = (bytes: Buffer) => (bytes.length < 2 ? 0 : bytes.readUInt16BE(0));

/** One that is there already under this key is replaced. */
export function encodeNote({ as, network, generation, told, blackhole }: Note): Buffer {
  const key = Buffer.from(`${prefix} ${as} ${prefixText(network)}`);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(key.length);
  const routes = Buffer.concat(
    told.flatMap(({ bytes, action }) => [Buffer.from([action === 'deny' ? 1 : 0]), bytes]),
  );
  const value = JSON.stringify({ generation, blackhole, told: routes.toString('base64') });
  return Buffer.concat([length, key, Buffer.from(value)]);
}

/** Null for what others keep there, and for what is damaged. */
export function decodeNote(bytes: Buffer): Note | null {
  const key = bytes.subarray(2, 2 + keyLength(bytes)).toString();
  const [, as, destination = ''] = key.match(/^innkeeper edge (policy|mitigation) (\S+)$/) ?? [];
  if (as !== 'policy' && as !== 'mitigation') return null;
  try {
    const value = JSON.parse(bytes.subarray(2 + keyLength(bytes)).toString());
    const { generation, blackhole, told } = value as { generation: number; blackhole: boolean; told: string };
    const network = parsePrefix(destination);
    if (!Number.isSafeInteger(generation)) return null;
    return {
      as,
      network,
      generation,
      blackhole,
      told: decodeTold(Buffer.from(told, 'base64'), network.family),
    };
  } catch {
    return null;
  }
}

function decodeTold(bytes: Buffer, family: 4 | 6): Told[] {
  const told: Told[] = [];
  for (let at = 0; at < bytes.length; ) {
    const action: Action = bytes[at] === 1 ? 'deny' : 'permit';
    const end = at + 2 + (bytes[at + 1] ?? 0);
    const route = bytes.subarray(at + 1, end);
    const flow = decodeFlow(route, family);
    if (flow === null) throw new Error('no flow');
    told.push({ action, flow, bytes: Buffer.from(route), says: 'a rule' });
    at = end;
  }
  return told;
}
