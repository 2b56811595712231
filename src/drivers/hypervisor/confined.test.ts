import {
  chmodSync,
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../platform/host/program.ts';
import { reasonAgainstConfinement, runConfined } from './confined.ts';

const reason = await reasonAgainstConfinement();
if (reason !== null) console.warn(`Confinement is not tested here: ${reason}`);

describe.skipIf(reason !== null)('a confined program', () => {
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-confined-'));
  const own = join(dir, 'own');
  const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;
  writeFileSync(own, 'its own');
  writeFileSync(join(dir, 'neighbour'), 'of another machine', { mode: 0o644 });
  chmodSync(dir, 0o755);
  if (owner) chownSync(own, owner.uid, owner.gid);
  const given = { owner, cwd: dir, reads: [], writes: [own] };
  const sh = (script: string, more = {}) => runConfined(['sh', '-c', script], { ...given, ...more });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('sees what it is given, and nothing else of the host, also what everybody may read', async () => {
    expect((await sh(`cat own; ls`)).stdout).toBe('its ownown\n');
    for (const file of ['neighbour', '/etc/passwd', '/etc/shadow', `${process.cwd()}/package.json`])
      await expect(sh(`cat ${file}`), file).rejects.toThrow('No such file');
    expect((await sh('ls /')).stdout.split('\n').filter((each) => !dir.startsWith(`/${each}`))).toEqual([
      ...['bin', 'dev', 'lib', 'lib64', 'proc', 'usr'],
    ]);
  });

  it('sees no process but its own and no network', async () => {
    const { stdout } = await sh('ls /proc; echo --; cat /proc/net/dev');
    const [processes = '', devices = ''] = stdout.split('--');
    expect(processes.split('\n').filter((each) => /^\d+$/.test(each)).length).toBeLessThan(5);
    expect(devices.match(/^ *\w+:/gm)?.map((each) => each.trim())).toEqual(['lo:']);
  });

  it('changes what it is given to write, and nothing that it is given to read', async () => {
    await sh('printf more >> own');
    expect(readFileSync(own, 'utf8')).toBe('its ownmore');
    await expect(sh('printf worse > own', { reads: [own], writes: [] })).rejects.toThrow();
    expect(readFileSync(own, 'utf8')).toBe('its ownmore');
  });

  it('inherits open files that it could not walk to', async () => {
    const descriptor = openSync(join(dir, 'neighbour'), 'r');
    const { stdout } = await sh('cat <&3', { descriptors: [descriptor] });
    closeSync(descriptor);
    expect(stdout).toBe('of another machine');
  });

  it.skipIf(owner === null)('has no right of root, and gets none', async () => {
    const { stdout } = await sh('id -u; grep -E "^(Cap|NoNew)" /proc/self/status');
    expect(stdout).toMatch(/^65534\n/);
    for (const set of ['Prm', 'Eff', 'Bnd', 'Amb'])
      expect(stdout).toMatch(new RegExp(`^Cap${set}:\\t0+$`, 'm'));
    expect(stdout).toMatch(/^NoNewPrivs:\t1$/m);
  });

  it('ends when it takes too much memory or too long', async () => {
    await expect(sh('dd if=/dev/zero of=/dev/null bs=3G count=1')).rejects.toThrow('memory');
    const began = Date.now();
    await expect(sh('while :; do :; done', { timeoutMs: 2_000 })).rejects.toThrow();
    await expect(sh('sleep 20.0417', { timeoutMs: 1_000 })).rejects.toThrow();
    expect(Date.now() - began).toBeLessThan(10_000);
    await expect(runProgram(['pgrep', '-f', 'sleep 20.0417'])).rejects.toThrow(); // none is left
  });

  it('ends when it prints without end', async () => {
    const began = Date.now();
    for (const to of [1, 2]) await expect(sh(`yes >&${to}`)).rejects.toThrow('printed more than');
    expect(Date.now() - began).toBeLessThan(10_000);
  });

  it('gives nothing of a file that a disk names below itself', async () => {
    const disk = join(dir, 'disk.qcow2');
    const secret = join(dir, 'neighbour');
    for (const below of ['/etc/passwd', secret]) {
      rmSync(disk, { force: true });
      await runProgram(['qemu-img', 'create', '-q', '-f', 'qcow2', '-b', below, '-F', 'raw', disk]);
      if (owner) chownSync(disk, owner.uid, owner.gid);
      const convert = ['qemu-img', 'convert', '-O', 'raw', 'disk.qcow2', 'own'];
      await expect(runConfined(convert, { ...given, reads: [disk] })).rejects.toThrow('No such file');
    }
    expect(readFileSync(own, 'utf8')).toBe('its ownmore');
  });
});
