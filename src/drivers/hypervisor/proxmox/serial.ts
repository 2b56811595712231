import { Duplex } from 'node:stream';
import { asNumber, asRecord, asText } from './answers.ts';
import type { ProxmoxClient } from './client.ts';
import { calling } from './failure.ts';
import { machinePath } from './listed.ts';
import type { Machine } from './machines.ts';

/** A frame of the websocket holds 128 KiB there. */
const mostBytes = 65_536;
const aliveMs = 25_000;

/**
 * A machine's serial line, through the engine's terminal: the first thing said is who we are, after which it says `OK`; what is typed
 * comes in packets, `0:3:abc`, and a `2` says that somebody is still there.
 */
export async function openSerialLine(client: ProxmoxClient, machine: Machine): Promise<Duplex> {
  const path = machinePath(machine);
  const opened = calling('not_running', client.change('POST', `${path}/termproxy`, { serial: 'serial0' }));
  const { port, ticket, user } = asRecord(await opened, 'a terminal');
  const secret = asText(ticket, 'the ticket of a terminal');
  const socket = await client.socket(`${path}/vncwebsocket`, {
    port: asNumber(port, 'the port of a terminal'),
    vncticket: secret,
  });
  socket.send(Buffer.from(`${asText(user, 'the user of a terminal')}:${secret}\n`));
  let greeting: Buffer | null = Buffer.alloc(0);
  const line = new Duplex({
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += mostBytes) {
        const part = chunk.subarray(at, at + mostBytes);
        socket.send(Buffer.concat([Buffer.from(`0:${part.length}:`), part]));
      }
      done();
    },
    destroy(error, done) {
      clearInterval(timer);
      socket.terminate();
      done(error);
    },
  });
  const timer = setInterval(() => socket.send('2'), aliveMs).unref();
  socket.on('message', (data) => {
    let bytes = data as Buffer;
    if (greeting !== null) {
      greeting = Buffer.concat([greeting, bytes]);
      if (greeting.length < 2) return;
      if (greeting.toString('latin1', 0, 2) !== 'OK') return void line.destroy();
      bytes = greeting.subarray(2);
      greeting = null;
    }
    if (bytes.length > 0 && !line.push(bytes)) socket.pause();
  });
  socket.once('close', () => line.destroy());
  return line;
}
