import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket } from 'ws';
import { HypervisorError, type MachineId } from '../contract.ts';
import { asRecord, asTexts, type IncusClient } from './client.ts';
import { calling } from './failure.ts';
import { instancePath } from './machine.ts';

/**
 * A machine's serial line. The engine lets one viewer in, and another by force: whoever held it in a process that is gone loses it.
 * The line ends with the machine, or when somebody else takes it.
 */
export async function openSerialLine(client: IncusClient, id: MachineId): Promise<Duplex> {
  const wanted = { type: 'console', width: 80, height: 24, force: true };
  const { operation, metadata } = await calling(
    'not_running',
    client.begin(`${instancePath(id)}/console`, wanted),
  );
  const { fds } = asRecord(asRecord(metadata, 'a console').metadata, 'a console');
  const secrets = asTexts(fds, 'the lines of a console');
  const [data, control] = [secrets['0'], secrets.control];
  if (data === undefined || control === undefined)
    throw new HypervisorError('host_not_ready', 'the cluster opened no line to the console');
  // The engine waits for both before it passes anything on.
  const opening = [data, control].map((secret) => client.socket(`${operation}/websocket`, { secret }));
  const [line, controls] = await Promise.all(opening as [Promise<WebSocket>, Promise<WebSocket>]).catch(
    async (error: unknown) => {
      for (const half of await Promise.allSettled(opening))
        if (half.status === 'fulfilled') half.value.terminate();
      throw error;
    },
  );
  const stream = createWebSocketStream(line, { allowHalfOpen: false });
  stream.on('error', () => stream.destroy());
  stream.once('close', () => controls.close());
  controls.once('close', () => stream.destroy());
  return stream;
}
