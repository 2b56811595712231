import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocket } from 'ws';
import { type Context, causesOf } from '../../platform/index.ts';
import { hangUpOnSilence } from '../silence.ts';
import { isAnswer, makePass, type Wanted } from './pass.ts';

/** Where a process answers others that would join a line it holds. */
export const linePath = '/line';
export const answerHeader = 'x-console-line';
export const passScheme = 'Line';

/** With which it ends where it failed; the reason is the failure's code. */
export const failedCode = 4000;

/** The process that was asked could not show it, or not any more; `code` is what its failure is called there. */
export class FailedElsewhere extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`another process failed: ${code}`);
    this.code = code;
  }
}

/** Both are a host or two away. */
const answerWithinMs = 2_000;
const pingEveryMs = 5_000;
const largestMessageBytes = 2 ** 24;

/** What a process passes on; null when it cannot be reached, or has nothing of that. */
export async function dial(
  ctx: Context,
  wanted: Wanted,
  { holder, address }: { holder: string; address: string },
): Promise<Duplex | null> {
  const { pass, nonce } = makePass(ctx, wanted, holder);
  const socket = new WebSocket(new URL(linePath, address.replace(/^http/, 'ws')), {
    headers: { authorization: `${passScheme} ${pass}` },
    handshakeTimeout: answerWithinMs,
    maxPayload: largestMessageBytes,
    perMessageDeflate: false,
  });
  // Before the stream hears of it, and takes it for the end.
  socket.once('close', (code, reason) => {
    if (code === failedCode) line.destroy(new FailedElsewhere(String(reason)));
  });
  // From the beginning: what comes right behind the answer would be lost on nobody.
  const line = createWebSocketStream(socket, { allowHalfOpen: false });
  line.on('error', () => undefined); // 'close' follows
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
    ctx.log.info({ ...wanted, address, err: causesOf(error) }, 'another process does not show a console');
    return null;
  }
  hangUpOnSilence(socket, pingEveryMs);
  return line;
}
