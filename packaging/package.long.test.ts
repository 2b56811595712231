/** The Debian package, really installed, upgraded and removed by dpkg: in a copy of this system that is thrown away. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../src/platform/host/program.ts';
import { until } from '../test/product.ts';

const root = path.join(import.meta.dirname, '..');
const newer = '99.0.0';
const minutes = 60_000;
let folder: string;
/** Keeps the copy of the system alive: namespaces of its own, which end with it and take everything along. */
let keeper: ChildProcess;
let inner: string;
let packages: string[];

async function buildPackage(to: string, ...options: string[]): Promise<string> {
  const argv = [
    process.execPath,
    path.join(root, 'packaging/build.ts'),
    '--to',
    path.join(folder, to),
    ...options,
  ];
  return (await runProgram(argv, { cwd: root, timeoutMs: 15 * minutes })).stdout.trim();
}

/** Changes go to memory; what is below is this system as it is. The network is empty, so no host rule is touched. */
async function openCopy(): Promise<void> {
  const script = `set -e; mount -t tmpfs tmpfs "$0"; cd "$0"; mkdir up work root; cd /
    mount -t overlay overlay -o lowerdir=/,upperdir="$0/up",workdir="$0/work" "$0/root"
    mount -t proc proc "$0/root/proc"; mount --rbind /dev "$0/root/dev"; mount -t tmpfs tmpfs "$0/root/run"
    ip link set lo up; echo ready; exec sleep infinity`;
  const argv = [
    '--mount',
    '--net',
    '--pid',
    '--fork',
    '--kill-child',
    'sh',
    '-c',
    script,
    path.join(folder, 'copy'),
  ];
  keeper = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  keeper.stdout?.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  await until(
    async () => said,
    (text) => text.includes('ready'),
  );
  inner = (await fs.readFile(`/proc/${keeper.pid}/task/${keeper.pid}/children`, 'utf8')).trim();
}

/** Argument vector that runs `argv` in the copy. */
function inCopy(argv: string[]): string[] {
  const enter = ['nsenter', '--target', inner, '--mount', '--net', '--pid'];
  return [...enter, 'chroot', path.join(folder, 'copy/root'), ...argv];
}

const run = (...argv: string[]) => runProgram(inCopy(argv), { timeoutMs: 5 * minutes });
const sh = async (script: string) => (await run('sh', '-c', script)).stdout.trim();

/** Starts the service as systemd would: the unit's line, its capabilities, no new privileges. */
async function startService(): Promise<ChildProcess> {
  const unit = await sh('cat /lib/systemd/system/innkeeper.service');
  const valuesOf = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1] ?? '');
  const capabilities = valuesOf('CapabilityBoundingSet').join(' ').split(' ');
  const set = ['-all', ...capabilities.map((name) => `+${name.replace('CAP_', '').toLowerCase()}`)].join(',');
  const line = (valuesOf('ExecStart')[0] ?? '').split(' ');
  const [program = '', ...args] = inCopy([
    'setpriv',
    '--no-new-privs',
    `--bounding-set=${set}`,
    '--',
    ...line,
  ]);
  const service = spawn(program, args, {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [service.stdout, service.stderr])
    stream?.on('data', (bytes: Buffer) => {
      printed += bytes.toString();
    });
  await until(
    async () => ({ printed, gone: service.exitCode !== null }),
    (seen) => seen.gone || seen.printed.includes('Innkeeper is ready'),
    3 * minutes,
  );
  expect(printed).toContain('Innkeeper is ready');
  return service;
}

async function stopService(service: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => service.once('exit', resolve));
  await sh(`kill -TERM $(pgrep -f '^/usr/lib/innkeeper/bin/node')`);
  await ended;
}

/** What the API says to the demonstration's customer. */
function ask(where: string): Promise<string> {
  const script = `const { customer: c } = JSON.parse(require('fs').readFileSync('/var/lib/innkeeper/demo.json'));
    fetch('http://127.0.0.1:8080/api${where}', { headers: { token: c.api_key, 'x-organization-id': String(c.organization_id) } })
      .then((answer) => answer.text()).then(console.log)`;
  return run('/usr/lib/innkeeper/bin/node', '-e', script).then(({ stdout }) => stdout);
}

describe.skipIf(process.getuid?.() !== 0 || process.arch !== 'x64')('the Debian package', () => {
  beforeAll(async () => {
    folder = await fs.mkdtemp(path.join(os.tmpdir(), 'innkeeper-deb-'));
    await fs.mkdir(path.join(folder, 'copy'));
    packages = [await buildPackage('first'), await buildPackage('newer', '--as', newer)];
    await openCopy();
    for (const file of packages) {
      const place = path.join('/proc', inner, 'root', folder, 'copy/root/root', path.basename(file));
      await fs.copyFile(file, place);
    }
  }, 30 * minutes);
  afterAll(async () => {
    keeper?.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await fs.rm(folder, { recursive: true, force: true });
  });

  it(
    'is the same twice',
    async () => {
      const digest = async (file: string) =>
        createHash('sha256')
          .update(await fs.readFile(file))
          .digest('hex');
      expect(await digest(await buildPackage('again'))).toBe(await digest(packages[0] ?? ''));
    },
    15 * minutes,
  );

  it(
    'is installed, serves, is upgraded with its rows and settings kept, and is removed without its data',
    async () => {
      const [first = '', second = ''] = packages.map((file) => `/root/${path.basename(file)}`);
      const installed = await run('dpkg', '--install', first);
      expect(installed.stdout).toContain('systemctl enable --now innkeeper');
      expect(await sh('stat -c "%a %U" /etc/innkeeper/innkeeper.env')).toBe('640 root');
      expect(await sh('stat -c "%a %G" /var/lib/innkeeper')).toBe('710 innkeeper');
      await run('systemd-analyze', 'verify', '/lib/systemd/system/innkeeper.service');
      await run('systemd-analyze', 'verify', '/lib/systemd/system/innkeeper-api.service');
      await run('systemd-analyze', 'verify', '/lib/systemd/system/innkeeper-backup.timer');

      // As an operator does it: a conffile that was changed is theirs.
      await sh(`sed -i 's/^DEMO=off/DEMO=on/; $aHYPERVISOR=simulator' /etc/innkeeper/innkeeper.env`);
      const before = await startService();
      const products = await ask('/products');
      expect(JSON.parse(products).data.products.length).toBeGreaterThan(0);
      expect(await sh('innkeeper backup --quick')).toContain('/var/lib/innkeeper/backups/');
      await stopService(before);

      await run('dpkg', '--install', second);
      expect(await sh('innkeeper version')).toContain(`Innkeeper ${newer} (Node v24`);
      expect(await sh('inn vps stop --help')).toContain('Usage: inn vps stop ID [flags]');
      expect(await sh('grep -c simulator /etc/innkeeper/innkeeper.env')).toBe('1');
      const after = await startService();
      expect(await ask('/products')).toBe(products);
      expect(JSON.parse(await ask('/dashboard/services')).success).toBe(true);
      const page = '/usr/lib/innkeeper/dist/dashboard/index.html';
      expect(await sh(`grep -o 'command-line" content="[^"]*' ${page}`)).toBe(
        'command-line" content="/inn.mjs',
      );
      await stopService(after);

      const removed = await run('dpkg', '--remove', 'innkeeper');
      expect(removed.stdout).toContain('Kept: the settings');
      expect(
        await sh(
          'ls -A /var/lib/innkeeper/secret.key /etc/innkeeper/innkeeper.env; ls -d /usr/lib/innkeeper || true',
        ),
      ).toBe('/etc/innkeeper/innkeeper.env\n/var/lib/innkeeper/secret.key');
      const purged = await run('dpkg', '--purge', 'innkeeper');
      expect(purged.stdout).toContain('Kept, because nothing could bring it back: /var/lib/innkeeper');
      expect(await sh('ls /var/lib/innkeeper/secret.key; ls -d /etc/innkeeper || true')).toBe(
        '/var/lib/innkeeper/secret.key',
      );
    },
    15 * minutes,
  );
});
