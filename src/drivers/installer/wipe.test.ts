import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { readReport } from './report.ts';
import { type Drive, openScripts, type ScriptBed } from './scripts.testbed.ts';

let bed: ScriptBed;
afterEach(() => bed.close());

async function drive(kind: 'nvme' | 'sata', does: Partial<Drive>): Promise<ScriptBed> {
  bed = await openScripts(kind, does);
  return bed;
}

const steps = (report: { tried: { method: string; exit: number }[] }) =>
  report.tried.map(({ method, exit }) => `${method} ${exit === 0 ? 'went' : 'failed'}`);
const logOf = (report: { tried: { method: string; log: string }[] }, method: string) =>
  report.tried.find((each) => each.method === method)?.log ?? '';
const isLeft = async () => (await readFile(bed.disk, 'latin1')).includes('left by somebody');
/** What the product makes of what was printed. */
const method = (report: object) => {
  const read = readReport({ ...report, kind: 'wiped' });
  return read.kind === 'wiped' ? read.wiped.method : undefined;
};

describe('a drive is erased by what it offers', () => {
  it.each<[string, 'nvme' | 'sata', Partial<Drive>, RegExp]>([
    ['sanitize-block', 'nvme', { sanicap: 7, oacs: 2, fna: 4 }, /^nvme sanitize .*nvme0 --sanact=2 --ause$/],
    ['sanitize-crypto', 'nvme', { sanicap: 5, oacs: 2, fna: 4 }, /^nvme sanitize .*nvme0 --sanact=4 --ause$/],
    ['sanitize-overwrite', 'nvme', { sanicap: 4 }, /^nvme sanitize .*nvme0 --sanact=3 --owpass=1 --ause$/],
    [
      'format-crypto',
      'nvme',
      { oacs: 2, fna: 4 },
      /^nvme format .*nvme0 --namespace-id=1 --lbaf=0 --ses=2 --force$/,
    ],
    [
      'format-user-data',
      'nvme',
      { oacs: 2, flbas: 33 },
      /^nvme format .*nvme0 --namespace-id=1 --lbaf=17 --ses=1 --force$/,
    ],
    ['overwrite', 'nvme', {}, /^nvme id-ctrl/],
    [
      'ata-enhanced',
      'sata',
      { hasEnhanced: 1 },
      /^hdparm --user-master u --security-erase-enhanced innkeeper /,
    ],
    ['ata', 'sata', {}, /^hdparm --user-master u --security-erase innkeeper /],
    ['overwrite', 'sata', { hasNoSecurity: 1 }, /^hdparm -I/],
  ])('%s, of %s %o', async (way, kind, does, called) => {
    const { wipe, calls } = await drive(kind, does);
    const report = await wipe();
    expect(report).toMatchObject({
      exit: 0,
      serial: 'S1',
      bytes: 5 * 2 ** 20 + 512,
      method: way,
      marks: 8,
      marks_left: 0,
    });
    expect([report.not_zero, method(report)]).toEqual([way.endsWith('crypto') ? 8 : 0, way]);
    expect(steps(report)).toEqual(['marks went', `${way} went`]);
    expect(report.drive).toMatchObject({ smart_status: { passed: true } });
    expect(await calls()).toContainEqual(expect.stringMatching(called));
    expect(await isLeft()).toBe(false);
    if (kind === 'sata' && way !== 'overwrite') expect(await bed.get('isEnabled')).toBe('0');
  });

  it('a sanitize is waited for, and what the drive says of it is kept', async () => {
    const { wipe, seconds } = await drive('nvme', { sanicap: 2 });
    const report = await wipe();
    expect(logOf(report, 'sanitize-block')).toContain(
      'Sanitize Status                        (SSTAT) :  0x1',
    );
    expect(await seconds()).toBeGreaterThanOrEqual(110);
  });

  it('one that knows no way out of a sanitize that failed is told to sanitize without', async () => {
    const { wipe } = await drive('nvme', { sanicap: 2, isOld: 1 });
    expect(await wipe()).toMatchObject({ exit: 0, method: 'sanitize-block' });
  });
});

describe('what is no erasure is none, and the next way is taken', () => {
  it('a drive that says it succeeded, and the marks are still there', async () => {
    const { wipe } = await drive('nvme', { sanicap: 3, oacs: 2, fna: 4, keeps: 'yes' });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 0, method: 'overwrite', marks_left: 0 });
    const ways = ['sanitize-block', 'sanitize-crypto', 'format-crypto', 'format-user-data', 'overwrite'];
    expect(steps(report)).toEqual(ways.flatMap((way) => ['marks went', `${way} went`]));
    expect(await isLeft()).toBe(false);
  });

  it('one that has nothing to read any more, which BusyBox takes for the end and no error', async () => {
    const { wipe } = await drive('nvme', { oacs: 2, shrinks: 1 });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 1, method: 'none' });
    expect(method(report)).toBeNull();
  });

  it('one that keeps even what is written over', async () => {
    const { wipe } = await drive('sata', { hasEnhanced: 1, keeps: 'all' });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 1, method: 'none', marks_left: 8 });
    expect(method(report)).toBeNull();
  });

  it('a sanitize that fails: the drive is let out of that and formatted', async () => {
    const { wipe, calls } = await drive('nvme', { sanicap: 3, oacs: 2, failing: '2 4' });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 0, method: 'format-user-data' });
    expect(steps(report)).toEqual([
      ...['marks went', 'sanitize-block failed', 'marks went', 'sanitize-crypto failed'],
      ...['marks went', 'format-user-data went'],
    ]);
    expect(logOf(report, 'sanitize-block')).toContain('(SSTAT) :  0x3');
    expect((await calls()).filter((call) => call.endsWith('--sanact=1'))).toHaveLength(2);
  });

  it('a sanitize and a format that are refused', async () => {
    const { wipe } = await drive('nvme', { sanicap: 3, oacs: 2, refusing: '2 4 format' });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 0, method: 'overwrite' });
    expect(logOf(report, 'format-user-data')).toContain('Invalid Field in Command');
  });

  it('a drive whose firmware has frozen its security', async () => {
    const { wipe, calls } = await drive('sata', { hasEnhanced: 1, isFrozen: 1 });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 0, method: 'overwrite' });
    expect(logOf(report, 'ata-frozen')).toContain('frozen');
    expect((await calls()).join()).not.toContain('set-pass');
  });

  it('a drive that refuses ATA’s erasure has no password afterwards', async () => {
    const { wipe } = await drive('sata', { hasEnhanced: 1, refusesErase: 1 });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 0, method: 'overwrite' });
    expect(logOf(report, 'ata')).toContain('SECURITY_ERASE: Input/output error');
    expect(await bed.get('isEnabled')).toBe('0');
  });

  it('and one that keeps it is not wiped, for it would be locked when it starts the next time', async () => {
    const { wipe } = await drive('sata', { refusesErase: 1, keepsPassword: 1 });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 1, method: 'none' });
    expect(logOf(report, 'ata-password')).toContain('it keeps its password');
  });
});

describe('a drive that breaks', () => {
  it('in the middle of being overwritten is not wiped', async () => {
    const { wipe } = await drive('sata', { hasNoSecurity: 1, breaks: '1' });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 1, method: 'none', marks_left: 8, not_zero: 8 });
    expect(logOf(report, 'overwrite')).toContain('Input/output error');
  });

  it('while it sanitizes, so that it says nothing any more', async () => {
    const { wipe } = await drive('nvme', { sanicap: 2, oacs: 2, isMute: 1 });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 1, method: 'none' });
    expect(logOf(report, 'sanitize-block')).toContain('says nothing any more');
  });

  it('so that it is not there at all', async () => {
    const { wipe } = await drive('sata', { isGone: 1, hasNoSecurity: 1 });
    expect(await wipe()).toMatchObject({ exit: 1, method: 'none', bytes: 0 });
  });
});

describe('what a run before began, whose power went', () => {
  it('a sanitize is waited for, and only then another begins, which is the one that is proved', async () => {
    const { wipe, calls } = await drive('nvme', { sanicap: 2, sanitized: 2, doing: 2, left: 30 });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 0, method: 'sanitize-block' });
    expect(steps(report)).toEqual(['sanitize-before went', 'marks went', 'sanitize-block went']);
    const all = await calls();
    expect(all.findIndex((call) => call.startsWith('nvme sanitize '))).toBeGreaterThan(30);
    expect(all.filter((call) => call.startsWith('nvme sanitize '))).toHaveLength(1);
  });

  it('one that has failed meanwhile, and takes nothing until another succeeds', async () => {
    const { wipe } = await drive('nvme', { sanicap: 2, oacs: 2, sanitized: 3, isStuck: 1 });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 0, method: 'sanitize-block' });
    expect(steps(report)).toEqual([
      ...['sanitize-before failed', 'marks failed', 'sanitize-block went'],
      ...['marks went', 'sanitize-block went'],
    ]);
  });

  it('one that failed long ago keeps nobody from anything', async () => {
    const { wipe } = await drive('nvme', { sanicap: 2, sanitized: 3 });
    expect(await wipe()).toMatchObject({ exit: 0, method: 'sanitize-block' });
  });

  it('ATA’s erasure: the drive is locked by our password, and gets rid of it', async () => {
    const { wipe } = await drive('sata', { hasEnhanced: 1, isEnabled: 1, isLocked: 1 });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 0, method: 'ata-enhanced' });
    expect(steps(report)).toEqual(['ata-unlock went', 'marks went', 'ata-enhanced went']);
    expect([await bed.get('isEnabled'), await bed.get('isLocked')]).toEqual(['0', '0']);
  });

  it('a drive that its customer locked is not wiped', async () => {
    const { wipe } = await drive('sata', { hasEnhanced: 1, isEnabled: 1, isLocked: 1, isForeign: 1 });
    const report = await wipe();
    expect(report).toMatchObject({ exit: 1, method: 'none' });
    expect(logOf(report, 'ata-unlock')).toContain('SECURITY_UNLOCK: Input/output error');
    expect(await isLeft()).toBe(true);
  });
});

/** Kinds and words of what was sent. None of it is empty. */
async function told(): Promise<unknown[]> {
  const sent = await bed.sent();
  return sent
    .filter(({ call }) => call === 'report')
    .map(({ body }) => {
      const report = readReport(body);
      if (report.kind === 'step') return report.step;
      if (report.kind === 'wiped') return ['wiped', report.wiped.method];
      return report.kind === 'failed' ? ['failed', report.reason] : report.kind;
    });
}

describe('what is told of a wipe', () => {
  it('is how each disk was wiped', async () => {
    const { run } = await drive('nvme', { sanicap: 2 });
    expect((await run('wipe_all')).exit).toBe(0);
    expect(await told()).toEqual(['wipe S1', ['wiped', 'sanitize-block']]);
  });

  it('or that one could not be', async () => {
    const { run } = await drive('sata', { hasNoSecurity: 1, breaks: '0' });
    expect((await run('wipe_all')).exit).toBe(1);
    expect(await told()).toEqual(['wipe S1', ['wiped', null], ['failed', 'the disk S1 could not be wiped']]);
  });

  it.each<[string, string]>([
    ['before it said anything', 'echo "wipe: 66: arithmetic expression: expecting EOF" >&2; exit 2'],
    [
      'in the middle of a word',
      `printf '{"serial": "S'; echo "wipe: 66: arithmetic expression: expecting EOF" >&2; exit 2`,
    ],
    ['and was said to be well', 'echo "wipe: 66: arithmetic expression: expecting EOF" >&2'],
  ])('or that the program died %s', async (_, text) => {
    const { run, replace } = await drive('sata', {});
    await replace('wipe', `#!/bin/sh\n${text}\n`);
    expect((await run('wipe_all')).exit).toBe(1);
    const reason = 'wiping the disk S1 broke off: wipe: 66: arithmetic expression: expecting EOF';
    expect(await told()).toEqual(['wipe S1', ['failed', reason]]);
  });

  it('is told whole when nobody answered for nine minutes', async () => {
    const { run, replace } = await drive('sata', { isFrozen: 1 });
    const away = `echo 65 > "$DRIVE/isAway"; exec dash "$0.real" "$@"`;
    await replace('wipe.real', await readFile(`${bed.dir}/bin/wipe`, 'utf8'));
    await replace('wipe', `#!/bin/sh\n${away}\n`);
    expect((await run('wipe_all')).exit).toBe(0);
    expect(await told()).toEqual(['wipe S1', ['wiped', 'overwrite']]);
    expect(await bed.seconds()).toBeGreaterThan(540);
  });

  it('and of what nobody hears for longer all is begun anew', async () => {
    const { run, replace } = await drive('sata', { isFrozen: 1 });
    await replace('wipe.real', await readFile(`${bed.dir}/bin/wipe`, 'utf8'));
    await replace('wipe', `#!/bin/sh\necho 9999 > "$DRIVE/isAway"; exec dash "$0.real" "$@"\n`);
    expect((await run('wipe_all')).exit).toBe(75);
    expect(await told()).toEqual(['wipe S1']);
  });

  it('a refusal is final, and told', async () => {
    const { run } = await drive('sata', { isFrozen: 1, refused: 'wiped' });
    expect((await run('wipe_all')).exit).toBe(1);
    expect((await told()).at(-1)).toEqual(['failed', 'what became of the disk S1 was refused']);
  });
});

describe('the agent', () => {
  const agent = async (wipeAll: string) => {
    const { run, replace } = await drive('sata', {});
    await replace('inventory', '#!/bin/sh\necho \'{"kind":"inventory","disks":[]}\'\n');
    await replace('wipe_all', `#!/bin/sh\n. ${bed.dir}/lib/common\n${wipeAll}\n`);
    const { exit } = await run('agent');
    const sent = (await bed.sent()).filter(({ call }) => call === 'report').map(({ body }) => body);
    return { exit, sent: sent.slice(1) };
  };
  const step = { kind: 'step', step: 'wipe S1' };

  it('says what a program died at that said nothing itself', async () => {
    const { exit, sent } = await agent('step "wipe S1"; exit 2');
    expect([exit, sent]).toMatchObject([1, [step, { kind: 'failed', reason: 'it broke off at: wipe S1' }]]);
  });

  it('says nothing more of one that has', async () => {
    const { exit, sent } = await agent('step "wipe S1"; failed "the disk S1 could not be wiped"');
    expect([exit, sent]).toMatchObject([
      1,
      [step, { kind: 'failed', reason: 'the disk S1 could not be wiped' }],
    ]);
    expect(sent).toHaveLength(2);
  });

  it('lets all be begun anew of which nobody heard', async () => {
    const { exit, sent } = await agent('step "wipe S1"; exit $anew');
    expect([exit, sent]).toMatchObject([1, [step]]);
    expect(sent).toHaveLength(1);
  });

  it('and is done otherwise', async () => {
    const { exit, sent } = await agent('step "wipe S1"');
    expect([exit, sent]).toMatchObject([0, [step, { kind: 'done' }]]);
  });
});
