/**
 * A server as far as its BMC sees one: it runs or not, follows its power button, and has a serial line. Far cheaper than a machine. Of a process
 * of its own, as `start` and `button` of `chassis.sh`; in RACK_RUN: `serial` is the line's other end, what comes to `say` it says there, what it
 * hears it notes in `typed`, and with `ignores-button` its system does not follow.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

const run = process.env.RACK_RUN ?? '.';
const inRun = (name: string) => join(run, name);

if (process.argv[2] === 'button') {
  if (!existsSync(inRun('ignores-button')))
    process.kill(Number(readFileSync(inRun('pid'), 'utf8')), 'SIGTERM');
} else {
  const line = connect(inRun('serial'));
  line.on('data', (chunk) => appendFileSync(inRun('typed'), chunk)).on('error', () => undefined);
  rmSync(inRun('say'), { force: true });
  createServer((socket) => socket.on('data', (chunk) => line.write(chunk))).listen(inRun('say'));
}
