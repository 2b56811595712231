import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import type { BmcConnection } from '../connection.ts';
import type { BmcControls } from '../controls.ts';
import { BmcError, type BmcErrorCode } from '../failure.ts';

/** Where another process has a simulated rack (`serveBmcs`): its address, and the word by which it knows that it is us. */
export interface RemoteRack {
  url: string;
  word: string;
}

/** What is asked of a BMC in another process, all but its serial line. */
export const remoteCalls = [
  ...(['identify', 'readPower', 'press', 'readNextBoot', 'setNextBoot'] as const),
  ...(['serialHolder', 'showsSerial'] as const),
  ...(['readSensors', 'readEvents', 'listAccounts', 'setPassword', 'takeAccess', 'disable'] as const),
  ...(['signsIn', 'readCipherSuites', 'readServices', 'letsInWithoutPassword', 'letsInWithoutName'] as const),
];
export type RemoteCall = (typeof remoteCalls)[number];

export interface Asked {
  connection: BmcConnection;
  call: RemoteCall | 'openSerial';
  /** The last of them is how many milliseconds are left. */
  given: unknown[];
}

export type Answered = { value: unknown } | { code: BmcErrorCode; message: string };

/** What a BMC of a simulated rack is told and answers, where that rack is another process: it lives on when this one dies. */
export function remoteControls(rack: RemoteRack, connection: BmcConnection): BmcControls {
  const own = { ...connection };
  const asked =
    (call: RemoteCall) =>
    async (...given: unknown[]) => {
      const answer = await ask(rack, { connection: own, call, given });
      if ('value' in answer) return answer.value;
      throw new BmcError(answer.code, answer.message);
    };
  const calls = Object.fromEntries(remoteCalls.map((call) => [call, asked(call)]));
  return {
    ...(calls as unknown as Pick<BmcControls, RemoteCall>),
    kind: 'simulated',
    capabilities: ['serial'],
    openSerial: (leftMs) => openLine(rack, { connection: own, call: 'openSerial', given: [leftMs] }),
    becomes: (next) => {
      own.password = next;
    },
    close: async () => undefined,
  };
}

/** That a process is not there is what a BMC without power looks like. */
async function silence(leftMs: number, cause: unknown): Promise<never> {
  await delay(Math.max(0, Math.min(leftMs, 1_000)));
  throw new BmcError('bmc_silent', 'the BMC did not answer in time', { cause });
}

async function ask({ url, word }: RemoteRack, asked: Asked): Promise<Answered> {
  const leftMs = Number(asked.given.at(-1));
  try {
    const answer = await fetch(`${url}/bmc`, {
      method: 'POST',
      headers: { authorization: `Bearer ${word}` },
      body: new Uint8Array(serialize(asked)),
      signal: AbortSignal.timeout(Math.max(1, leftMs)),
    });
    if (!answer.ok) throw new Error(`the simulated rack answered ${answer.status}: ${await answer.text()}`);
    return deserialize(Buffer.from(await answer.arrayBuffer())) as Answered;
  } catch (error) {
    return silence(leftMs, error);
  }
}

async function openLine({ url, word }: RemoteRack, asked: Asked): Promise<Duplex> {
  const leftMs = Number(asked.given.at(-1));
  const sent = request(`${url}/serial`, {
    agent: false,
    headers: {
      ...{ connection: 'Upgrade', upgrade: 'serial', authorization: `Bearer ${word}` },
      asked: serialize(asked).toString('base64'),
    },
  });
  const upgraded = once(sent, 'upgrade', { signal: AbortSignal.timeout(Math.max(1, leftMs)) });
  const refused = once(sent, 'response').then(async ([response]) => {
    const { code, message } = JSON.parse(Buffer.concat(await response.toArray()).toString());
    throw new BmcError(code, message);
  });
  sent.end();
  try {
    const [, socket, head] = (await Promise.race([upgraded, refused])) as [unknown, Socket, Buffer];
    return lineOver(socket, head);
  } catch (error) {
    sent.destroy();
    if (error instanceof BmcError) throw error;
    return silence(leftMs, error);
  } finally {
    for (const each of [upgraded, refused]) each.catch(() => undefined);
  }
}

/** Ended from the other side, somebody else has it. */
function lineOver(socket: Socket, head: Buffer): Duplex {
  const line = new Duplex({
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write: (chunk, encoding, done) => void socket.write(chunk, encoding, done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (chunk) => {
    if (!line.push(chunk)) socket.pause();
  });
  socket.on('error', () => undefined);
  socket.once('close', () =>
    line.destroy(new BmcError('serial_taken', 'somebody else has opened the serial line')),
  );
  if (head.length > 0) line.push(head);
  return line;
}
