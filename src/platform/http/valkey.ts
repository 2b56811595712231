import { createHash } from 'node:crypto';
import type { ProcessLog } from '../log.ts';

export type ValkeyLog = Pick<ProcessLog, 'info' | 'warn'>;

/** Lua that runs in Valkey as one. */
export interface Script {
  text: string;
  sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** A connection that callers never wait for long: an answer that does not come is null, and until one comes again nobody asks. */
export interface Valkey {
  isReached(): boolean;
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Says something whose answer nobody waits for. */
  tell(command: string[]): void;
  close(): Promise<void>;
}

/** A healthy one answers within a millisecond or two. */
const answersWithinMs = 500;
const lookAgainMs = 1_000;
const firstWithinMs = 1_000;

/**
 * Opens a connection to Valkey, or to Redis, which speaks the same. Waits a second for the first one and goes on without it:
 * while it cannot be reached it is looked for every second.
 */
export async function openValkey(url: string, log: ValkeyLog): Promise<Valkey> {
  // Not at the top: a tenth of what a start loads, and most have no Valkey.
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url: url.replace(/^valkey/, 'redis'),
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: { connectTimeout: 2_000, reconnectStrategy: () => lookAgainMs, keepAlive: true },
  });
  let reached = false;
  let isClosed = false;
  let lookAt: NodeJS.Timeout | null = null;
  const lost = (error: unknown): void => {
    if (lookAt === null && !isClosed) lookAt = setTimeout(() => void look(), lookAgainMs);
    lookAt?.unref();
    if (!reached) return;
    reached = false;
    log.warn({ err: error }, 'Valkey cannot be reached: this process counts limits by itself');
  };
  const found = (): void => {
    if (reached || isClosed) return;
    reached = true;
    log.info({}, 'Valkey is reached: limits are counted together with the other processes');
  };
  /** A connection that stands may still be one in which nobody answers. */
  const look = async (): Promise<void> => {
    lookAt = null;
    if (isClosed || reached) return;
    try {
      await within(answersWithinMs, client.sendCommand(['PING']));
      found();
    } catch (error) {
      lost(error);
    }
  };
  client.on('error', lost);
  client.on('ready', found);
  await within(firstWithinMs, client.connect()).catch(lost);
  if (!reached)
    log.warn({}, 'Valkey cannot be reached: this process counts limits by itself until it can be');

  const ask = async (command: string[]): Promise<unknown> => {
    if (!reached) return null;
    return within(answersWithinMs, client.sendCommand(command));
  };
  return {
    isReached: () => reached,
    async run({ text, sha }, keys, args) {
      const rest = [String(keys.length), ...keys, ...args];
      try {
        return await ask(['EVALSHA', sha, ...rest]).catch((error: Error) => {
          if (!error.message.startsWith('NOSCRIPT')) throw error;
          return ask(['EVAL', text, ...rest]);
        });
      } catch (error) {
        lost(error);
        return null;
      }
    },
    tell(command) {
      ask(command).catch(lost);
    },
    async close() {
      isClosed = true;
      reached = false;
      if (lookAt !== null) clearTimeout(lookAt);
      client.destroy();
    },
  };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const giveUp = () => late.reject(new Error(`no answer within ${ms} ms`));
  // Where this process itself was held up, the answer may have come and only waits to be read.
  const timer = setTimeout(() => setImmediate(giveUp), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
