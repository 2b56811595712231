import { openInspector } from './inspector.ts';

/** Listens to what a running product and its machines tell each other, from outside: nothing in it knows. */
export interface Tap {
  forget(): Promise<void>;
  /** When `system_powerdown` was sent and when QEMU said `SHUTDOWN`, the first time each; on `nowMs`' clock. */
  told(): Promise<{ commandMs: number; eventMs: number }>;
  close(): void;
}

/** QEMU stamps its events with the time of day, which is turned into the clock of everything else. */
const listen = `(() => {
  const { Socket } = process.getBuiltinModule('node:net');
  const told = (globalThis.benchTold = {});
  const now = () => Number(process.hrtime.bigint()) / 1e6;
  const { write, push } = Socket.prototype;
  Socket.prototype.write = function (chunk, ...rest) {
    if (typeof chunk === 'string' && chunk.includes('"system_powerdown"')) told.commandMs ??= now();
    return write.call(this, chunk, ...rest);
  };
  Socket.prototype.push = function (chunk, ...rest) {
    const said = chunk === null ? null : /^.*"event": "SHUTDOWN".*$/m.exec(chunk.toString('latin1'));
    if (said !== null) {
      const { seconds, microseconds } = JSON.parse(said[0]).timestamp;
      told.eventMs ??= now() - (Date.now() - seconds * 1e3 - microseconds / 1e3);
    }
    return push.call(this, chunk, ...rest);
  };
})()`;

export async function openTap(pid: number): Promise<Tap> {
  const inspector = await openInspector(pid);
  const evaluate = async (expression: string) => {
    const { result, exceptionDetails } = (await inspector('Runtime.evaluate', {
      expression,
      returnByValue: true,
    })) as { result: { value?: unknown }; exceptionDetails?: object };
    if (exceptionDetails)
      throw new Error(`the product could not be listened to: ${JSON.stringify(exceptionDetails)}`);
    return result.value;
  };
  await evaluate(listen);
  return {
    forget: async () => {
      await evaluate('delete benchTold.commandMs; delete benchTold.eventMs; true');
    },
    told: async () => {
      const { commandMs, eventMs } = (await evaluate('benchTold')) as {
        commandMs?: number;
        eventMs?: number;
      };
      if (commandMs === undefined || eventMs === undefined)
        throw new Error('the stop was not seen at the machine');
      return { commandMs, eventMs };
    },
    close: () => void inspector('close'),
  };
}
