import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocket } from 'ws';
import { type Context, causesOf } from '../../../platform/index.ts';
import { hangUpOnSilence } from '../silence.ts';
import type { Holder } from './holders.ts';
import { isAnswer, makePass, type Wanted } from './pass.ts';

/** Where a process answers others that would join a line it holds. */
export const linePath = '/line';
export const answerHeader = 'x-console-line';
export const passScheme = 'Line';

/** Both are a host or two away. */
const answerWithinMs = 2_000;
const pingEveryMs = 5_000;
const largestMessageBytes = 2 ** 24;

/** What a process passes on of a machine; null when it cannot be reached, or has nothing of that. */
export async function dial(
  ctx: Context,
  wanted: Wanted,
  { holder, address }: Pick<Holder, 'holder' | 'address'>,
): Promise<Duplex | null> {
  const { pass, nonce } = makePass(ctx, wanted, holder);
  const socket = new WebSocket(new URL(linePath, address.replace(/^http/, 'ws')), {
    headers: { authorization: `${passScheme} ${pass}` },
    handshakeTimeout: answerWithinMs,
    maxPayload: largestMessageBytes,
    perMessageDeflate: false,
  });
  // From the beginning: what comes right behind the answer would be lost on nobody.
  const line = createWebSocketStream(socket, { allowHalfOpen: false });
  line.on('error', () => line.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      let isOurs = false;
      socket
        .once('upgrade', ({ headers }) => {
          isOurs = isAnswer(ctx, headers[answerHeader], nonce);
        })
        .once('open', () => (isOurs ? resolve() : reject(new Error('a stranger answers there'))))
        .once('error', reject);
    });
  } catch (error) {
    socket.terminate();
    ctx.log.info(
      { service: wanted.serviceId, address, err: causesOf(error) },
      'another process does not show a machine',
    );
    return null;
  }
  hangUpOnSilence(socket, pingEveryMs);
  return line;
}
