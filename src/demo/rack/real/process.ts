/**
 * The demonstration's rack of QEMU servers, in a process of its own within its network namespace, as root: servers go on when the product is
 * killed. It is told its folder and how many servers it has. It ends when it is told to, or when nobody has spoken to it for a while, and
 * takes their power then; in the second case it takes the network away as well, as nobody else will. Where it is killed itself they go on, and
 * the next one finds them.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { knowsWord } from '../../../drivers/bmc/index.ts';
import type { SwitchCredential } from '../rack.ts';
import { prepareAgent } from './agent.ts';
import { serversIn } from './built.ts';
import { endAddresses, isServer, leaveNetwork } from './left.ts';
import { guardManagement, processesIn, readPlan } from './network.ts';
import { placesIn, serverOf } from './plan.ts';
import { rackProgram } from './programs.ts';
import { prepareRouter } from './router.ts';
import { keepRunning, type ServedServer, serveServer } from './served.ts';

/** Whoever has the rack speaks to it every few seconds. */
const aloneMs = 60_000;
/** For systems that follow their power button. */
const buttonMs = 5_000;

const [dir = '.', count = '0'] = process.argv.slice(2);
const plan = readPlan(dir);
const { switch: switchAddress } = placesIn(plan);
const file = join(dir, 'place.json');
const ending = new AbortController();

// Of one that was killed the servers go on, and nothing else.
const others = async () => (await processesIn(plan.namespace)).filter((pid) => pid !== process.pid);
await endThose((await others()).filter((pid) => !isServer(pid)));

await guardManagement(plan);
const running = new Set(await others());
const servers: ServedServer[] = [];
for (let nth = 1; nth <= serversIn(dir, Number(count)); nth += 1)
  servers.push(await serveServer(dir, serverOf(nth, plan), (pid) => running.has(pid), ending.signal));
const credential = JSON.parse(readFileSync(join(dir, 'switch.json'), 'utf8')) as SwitchCredential;
const agent = await prepareAgent(join(dir, 'switch'), switchAddress, credential);
void keepRunning([rackProgram(dir, 'snmpd'), ...agent.argv], agent.env, ending.signal);
const router = await prepareRouter(join(dir, 'router'), rackProgram(dir, 'radvd'));
if (router !== null) void keepRunning(router, {}, ending.signal);
for (const server of servers) if (server.wasCutOff) await server.on();

let spokenToAt = performance.now();
setInterval(() => {
  if (ending.signal.aborted) return;
  for (const server of servers) server.look();
  if (performance.now() - spokenToAt > aloneMs) end('alone');
}, 1_000);
process.on('SIGTERM', () => end('asked'));

const word = randomBytes(24).toString('base64url');
const http = createServer((request, response) => {
  if (!knowsWord(request, word)) return void response.writeHead(403).end();
  spokenToAt = performance.now();
  const answer = async (): Promise<unknown> => {
    switch (`${request.method} ${request.url}`) {
      case 'GET /':
        return response.writeHead(ending.signal.aborted ? 503 : 200).end('{}');
      case 'POST /on': {
        const { serials } = (await json(request)) as { serials: string[] };
        for (const server of servers) if (serials.includes(server.serial)) await server.on();
        return response.end('{}');
      }
      case 'POST /end':
        return response.end('{}', () => end('asked'));
      default:
        return response.writeHead(404).end();
    }
  };
  answer().catch((error: Error) => response.writeHead(500).end(error.message));
});
await once(http.listen(0, switchAddress), 'listening');
const place = {
  ...{ url: `http://${switchAddress}:${(http.address() as AddressInfo).port}`, word, pid: process.pid },
};
writeFileSync(`${file}.partial`, JSON.stringify(place), { mode: 0o600 });
// Whoever has the rack may be somebody else than root.
const { uid, gid } = statSync(dir);
chownSync(`${file}.partial`, uid, gid);
renameSync(`${file}.partial`, file);

/** That they were on stays written down, so that they are on again next time. */
function end(why: 'asked' | 'alone'): void {
  if (ending.signal.aborted) return;
  ending.abort();
  const bring = async () => {
    const on = () => servers.filter((server) => server.runs());
    await Promise.all(on().map((server) => server.button().catch(() => undefined)));
    for (const until = performance.now() + buttonMs; performance.now() < until; await delay(100))
      if (on().length === 0) break;
    await endThose(await others());
    endAddresses(dir);
    if (why === 'asked') return;
    rmSync(file, { force: true });
    await leaveNetwork(plan);
  };
  bring().then(
    () => process.exit(),
    (error: Error) => {
      console.error(error.message);
      process.exit(1);
    },
  );
}

/** Asked first: BMCs write down what they were told. */
async function endThose(pids: number[]): Promise<void> {
  let left = pids;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of left) signalTo(pid, signal);
    for (let tries = 0; tries < 20 && left.length > 0; tries += 1) {
      await delay(100);
      const there = await processesIn(plan.namespace);
      left = left.filter((pid) => there.includes(pid));
    }
  }
}

function signalTo(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
