import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { deserialize, serialize } from 'node:v8';
import { BmcError } from '../failure.ts';
import { simulatedControls } from './controls.ts';
import type { SimulatedRack } from './rack.ts';
import { type Answered, type Asked, remoteCalls } from './remote.ts';

/** What a process answers whose simulated rack others speak to (`remoteControls`). */
export interface ServedBmcs {
  /** `POST /bmc`. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** `GET /serial`, which becomes the line itself. */
  upgrade(request: IncomingMessage, socket: Duplex): Promise<void>;
}

export function serveBmcs(rack: SimulatedRack): ServedBmcs {
  return {
    async answer(request, response) {
      const asked = deserialize(await buffer(request)) as Asked;
      response.end(serialize(await answered(rack, asked)));
    },
    async upgrade(request, socket) {
      socket.on('error', () => undefined);
      const asked = deserialize(Buffer.from(String(request.headers.asked), 'base64')) as Asked;
      try {
        const line = await simulatedControls(rack, asked.connection).openSerial(Number(asked.given[0]));
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: serial\r\n\r\n');
        line.on('error', () => undefined).once('close', () => socket.destroy());
        socket.once('close', () => line.destroy());
        line.pipe(socket);
        socket.pipe(line);
      } catch (error) {
        if (!(error instanceof BmcError)) throw error;
        const said = JSON.stringify({ code: error.code, message: error.message });
        socket.end(`HTTP/1.1 409 Conflict\r\ncontent-length: ${Buffer.byteLength(said)}\r\n\r\n${said}`);
      }
    },
  };
}

/** Whether it is one that knows the word. */
export function knowsWord({ headers }: IncomingMessage, word: string): boolean {
  const [said, expected] = [Buffer.from(headers.authorization ?? ''), Buffer.from(`Bearer ${word}`)];
  return said.length === expected.length && timingSafeEqual(said, expected);
}

async function answered(rack: SimulatedRack, { connection, call, given }: Asked): Promise<Answered> {
  const known = remoteCalls.find((each) => each === call);
  if (known === undefined) throw new Error(`a BMC is not asked so: ${call}`);
  const ask = simulatedControls(rack, connection)[known] as (...given: unknown[]) => Promise<unknown>;
  try {
    return { value: await ask(...given) };
  } catch (error) {
    if (!(error instanceof BmcError)) throw error;
    return { code: error.code, message: error.message };
  }
}
