import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runProgram } from '../../platform/host/program.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'innkeeper-rescue-'));
  for (const folder of ['root', 'etc', 'run/innkeeper']) await mkdir(join(dir, folder), { recursive: true });
  await writeFile(join(dir, 'run/innkeeper/calls'), 'header = "authorization: Bearer secret"');
});
afterEach(() => rm(dir, { recursive: true }));

/** What it calls and starts, in its order, each with whether what opens our calls is still there. The programs are stand-ins. */
async function done(): Promise<string[]> {
  const script = await readFile(join(import.meta.dirname, 'scripts/rescue.sh'), 'utf8');
  const standIns = `
    did() { printf '%s %s\\n' "$1" "$([ -e '${dir}/run/innkeeper' ] && echo secret || echo nothing)" >> '${dir}/did'; }
    plan() { case $1 in .mac) echo 00:00:00:00:00:00 ;; *addresses*) echo '4 192.0.2.5 24 192.0.2.1' ;; *) echo x ;; esac; }
    ip() { did "ip $*"; }
    said() { echo ttyS0; }
    say() { :; }
    hostname() { :; }
    report() { did "report $1"; }
    dropbear() { did dropbear; }
    getty() { did getty; exit 0; }
  `;
  const moved = script
    .replace('. /usr/lib/innkeeper/common', standIns)
    .replaceAll(/ (\/(?:root|etc|run)\/)/g, ` ${dir}$1`);
  await runProgram(['sh', '-c', moved]);
  return (await readFile(join(dir, 'did'), 'utf8')).trim().split('\n');
}

it('nobody is let into the rescue system before our last call is over and what it was made with is gone', async () => {
  const calls = (await done()).filter((call) => !call.startsWith('ip '));
  expect(calls).toEqual(['report done secret', 'dropbear nothing', 'getty nothing']);
});

it('it is at the addresses of its customer alone by then, on the port that the plan names', async () => {
  const calls = await done();
  const first = calls.indexOf('ip addr flush dev lo nothing');
  expect(calls.slice(first)).toEqual([
    'ip addr flush dev lo nothing',
    'ip route flush dev lo nothing',
    'ip -4 addr add 192.0.2.5/24 dev lo nothing',
    'ip -4 route add 192.0.2.1 dev lo nothing',
    'ip -4 route add default via 192.0.2.1 dev lo nothing',
    ...['dropbear nothing', 'getty nothing'],
  ]);
});
