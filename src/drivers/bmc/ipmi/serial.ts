import { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { BmcError } from '../failure.ts';
import { Escaping } from './escape.ts';
import type { Ipmi } from './program.ts';

const app = 0x06;
const getInstance = 0x4b;
const sol = 0x01;
const transport = 0x0c;
const getSolConfiguration = 0x22;
const thisChannel = 0x0e;
const solEnable = 0x01;
const greeting = /\[SOL Session operational\.[^\n]*\n/;
/** How long it may take to say goodbye to the BMC. */
const farewellMs = 2_000;

/** Who has the line, as the number of their session; null: nobody. */
export async function serialHolder(ipmi: Ipmi, leftMs: number): Promise<string | null> {
  const [a = 0, b = 0, c = 0, d = 0] = await ipmi.raw([app, getInstance, sol, 1], leftMs);
  return a + b + c + d === 0 ? null : [a, b, c, d].join('.');
}

/** Whether Serial over LAN is switched on. One that does not say so is tried. */
export async function showsSerial(ipmi: Ipmi, leftMs: number): Promise<boolean> {
  try {
    const [, enabled] = await ipmi.raw(
      [transport, getSolConfiguration, thisChannel, solEnable, 0, 0],
      leftMs,
    );
    return enabled === undefined || (enabled & 1) === 1;
  } catch (error) {
    if (error instanceof BmcError && error.code === 'bmc_refused') return true;
    throw error;
  }
}

/** Serial over LAN. There is one session of it: what has it, be it of somebody who is dead, is ended first. */
export async function openSerial(ipmi: Ipmi, leftMs: number): Promise<Duplex> {
  const endsMs = performance.now() + leftMs;
  const left = () => endsMs - performance.now();
  await ipmi.run(['sol', 'deactivate'], left()).catch((error: unknown) => {
    if (!(error instanceof BmcError) || error.code !== 'bmc_refused') throw error; // nobody had it
  });
  const escaping = new Escaping();
  const program = ipmi.start(['-e', escaping.character, 'sol', 'activate']);
  const first = await greeted(program.stdout, left()).catch((error: unknown) => {
    program.kill();
    throw error;
  });
  const line = new Duplex({
    allowHalfOpen: false,
    read: () => void program.stdout.resume(),
    write: (chunk: Buffer, _encoding, done) => void program.stdin.write(escaping.escape(chunk), () => done()),
    destroy(error, done) {
      program.stdin.end();
      const timer = setTimeout(() => program.kill(), farewellMs).unref();
      void program.ended.catch(() => undefined).finally(() => clearTimeout(timer));
      done(error);
    },
  });
  if (first.length > 0) line.push(first);
  program.stdout.on('data', (chunk: Buffer) => {
    if (!line.push(chunk)) program.stdout.pause();
  });
  const over = () =>
    line.destroy(
      new BmcError('serial_taken', 'somebody else has opened the serial line, or the BMC ended it'),
    );
  void program.ended.then(over, over);
  return line;
}

/** Resolves once the line is open, with what the server has said by then. */
async function greeted(output: NodeJS.ReadableStream, leftMs: number): Promise<Buffer> {
  let said = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    said = Buffer.concat([said, chunk]);
  };
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  output.on('data', take).once('end', end);
  try {
    const untilMs = performance.now() + leftMs;
    for (;;) {
      const found = greeting.exec(said.toString('latin1'));
      if (found) return said.subarray(found.index + found[0].length);
      if (hasEnded) throw new BmcError('bmc_refused', 'the BMC does not open its serial line');
      if (performance.now() >= untilMs)
        throw new BmcError('bmc_silent', 'the BMC did not open its serial line in time');
      await delay(10);
    }
  } finally {
    output.off('data', take).off('end', end);
  }
}
