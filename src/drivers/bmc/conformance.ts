import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BmcConnection } from './connection.ts';
import type { Bmc, BootFrom, SecurityFinding, Within } from './contract.ts';
import type { BmcError } from './failure.ts';

/** What the suite needs to know of the BMC it tests, and what it does to it from the other side. */
export interface BmcUnderTest {
  open(connection: BmcConnection): Bmc;
  /** By which it is reached, without its `uuid`. The account is called `root`. */
  connection: BmcConnection;
  /** Whether the server really runs, and what each of its starts began from, the first one first. */
  server(): Promise<{ runs: boolean; starts: BootFrom[] }>;
  /** The server comes to be off, with nothing chosen for its next start. */
  rest(): Promise<void>;
  ignoreButton(is: boolean): Promise<void>;
  /** It says yes to what is to be done with power and start, and does nothing. */
  sayYes(is: boolean): Promise<void>;
  beSilent(is: boolean): Promise<void>;
  /** The server says something on its serial line. */
  print(text: string): Promise<void>;
  typed(): Promise<string>;
  /** Another process opens the serial line, and leaves it open. */
  takeSerial(): Promise<void>;
  /** Notes an event of its own. */
  note(): Promise<void>;
  /** What is unsafe about it as it stands. */
  unsafe: SecurityFinding['code'][];
  /** The services that it has switched on; null where its engine does not know. */
  services: string[] | null;
  close(): Promise<void>;
}

/** Long enough for a program to start on a busy machine, and short for a test that waits it out. */
const brief: Within & { timeoutMs: number } = { timeoutMs: 3_000 };

/** What every engine must do; `skip` is the reason why this host cannot run the suite, or null. */
export function describeBmc(
  name: string,
  make: () => Promise<BmcUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} keeps the BMC contract`, () => {
    let test: BmcUnderTest;
    let bmc: Bmc;
    beforeAll(async () => {
      test = await make();
      bmc = test.open(test.connection);
    });
    afterAll(async () => {
      await bmc?.close();
      await test?.close();
    });

    describePower(
      () => test,
      () => bmc,
    );
    describeTrouble(
      () => test,
      () => bmc,
    );
    describeSerial(
      () => test,
      () => bmc,
    );
    describeReadings(
      () => test,
      () => bmc,
    );
    // Last: passwords are others afterwards.
    describeAccounts(
      () => test,
      () => bmc,
    );
  });
}

const failed = (code: string, permanent = false) =>
  expect.objectContaining({ name: 'Error', code, permanent });

function describePower(test: () => BmcUnderTest, bmc: () => Bmc): void {
  it('switches the server on once, however often it is asked, and off again', async () => {
    await test().rest();
    const { starts } = await test().server();
    expect(await bmc().readPower()).toBe('off');
    await Promise.all([bmc().powerOn(), bmc().powerOn()]);
    await bmc().powerOn();
    expect(await test().server()).toEqual({ runs: true, starts: [...starts, 'disk'] });
    expect(await bmc().readPower()).toBe('on');
    await bmc().powerOff();
    await bmc().powerOff();
    expect(await test().server()).toEqual({ runs: false, starts: [...starts, 'disk'] });
    expect(await bmc().readPower()).toBe('off');
  });

  it('lets the server follow its power button', async () => {
    await bmc().powerOn();
    await bmc().shutDown({ timeoutMs: 10_000 });
    expect((await test().server()).runs).toBe(false);
    await bmc().shutDown(brief);
  });

  it('says when the server does not follow, lets others ask meanwhile, and takes its power then', async () => {
    await bmc().powerOn();
    await test().ignoreButton(true);
    let hasEnded = false;
    const ended = bmc()
      .shutDown(brief)
      .finally(() => {
        hasEnded = true;
      });
    const refused = expect(ended).rejects.toEqual(failed('shutdown_timeout'));
    expect(await bmc().readPower()).toBe('on');
    expect(hasEnded).toBe(false);
    await refused;
    expect((await test().server()).runs).toBe(true);
    await bmc().powerOff();
    expect((await test().server()).runs).toBe(false);
    await test().ignoreButton(false);
  });

  it('starts a server anew by its mains and by its reset button, and resets none that is off', async () => {
    await bmc().powerOff();
    await expect(bmc().reset()).rejects.toEqual(failed('not_running'));
    await bmc().powerCycle();
    const first = await test().server();
    expect(first.runs).toBe(true);
    await bmc().powerCycle();
    await bmc().reset();
    await expect
      .poll(() => test().server())
      .toEqual({ runs: true, starts: [...first.starts, 'disk', 'disk'] });
  });

  it.each(['bios', 'uefi'] as const)(
    'starts from the network for once where that is chosen (%s)',
    async (firmware) => {
      await test().rest();
      await bmc().setNextBoot({ from: 'network', firmware });
      await bmc().setNextBoot({ from: 'network', firmware });
      expect(await bmc().readNextBoot()).toBe('network');
      await bmc().powerOn();
      await expect.poll(async () => (await test().server()).starts.at(-1)).toBe('network');
      await bmc().powerCycle();
      await expect.poll(async () => (await test().server()).starts.at(-1)).toBe('disk');
    },
  );

  it('takes a choice back', async () => {
    await test().rest();
    await bmc().setNextBoot({ from: 'network', firmware: 'bios' });
    await bmc().setNextBoot({ from: 'disk', firmware: 'bios' });
    expect(await bmc().readNextBoot()).toBe('disk');
    await bmc().setNextBoot(null);
    expect(await bmc().readNextBoot()).toBeNull();
    await bmc().powerOn();
    await expect.poll(async () => (await test().server()).starts.at(-1)).toBe('disk');
  });
}

function describeTrouble(test: () => BmcUnderTest, bmc: () => Bmc): void {
  it('believes no yes: what is not so afterwards has failed', async () => {
    await test().rest();
    await test().sayYes(true);
    const { starts } = await test().server();
    await expect(bmc().powerOn(brief)).rejects.toEqual(failed('nothing_happened'));
    await expect(bmc().setNextBoot({ from: 'network', firmware: 'bios' }, brief)).rejects.toEqual(
      failed('nothing_happened'),
    );
    await test().sayYes(false);
    await bmc().powerOn();
    await test().sayYes(true);
    await expect(bmc().powerOff(brief)).rejects.toEqual(failed('nothing_happened'));
    await test().sayYes(false);
    await expect.poll(() => test().server()).toEqual({ runs: true, starts: [...starts, 'disk'] });
  });

  it('gives up in time on one that is silent, and goes on with one that speaks again', async () => {
    await bmc().readPower();
    await test().beSilent(true);
    const beganMs = performance.now();
    const all = await Promise.allSettled([
      bmc().readPower({ timeoutMs: 1_500 }),
      bmc().powerOff({ timeoutMs: 1_500 }),
      bmc().readSensors({ timeoutMs: 1_500 }),
      bmc().signsIn('root', 'whatever', { timeoutMs: 1_500 }),
    ]);
    expect(performance.now() - beganMs).toBeLessThan(3_500);
    const silent = expect.objectContaining({ code: 'bmc_silent', waits: true, permanent: false });
    expect(all.map((each) => each.status === 'rejected' && each.reason)).toEqual([
      silent,
      silent,
      silent,
      silent,
    ]);
    await test().beSilent(false);
    await bmc().powerOff();
    expect((await test().server()).runs).toBe(false);
  });

  it('is not let in with a wrong password, and does not tell on the one it has', async () => {
    const stranger = test().open({ ...test().connection, password: 'canary-word-1' });
    for (const call of [
      () => stranger.readPower(),
      () => stranger.powerOn(),
      () => stranger.listAccounts(),
    ]) {
      const error = await call().catch((failure: unknown) => failure);
      expect(error).toEqual(failed('sign_in_refused', true));
      expect(JSON.stringify([String(error), (error as BmcError).stack, causesOf(error)])).not.toContain(
        'canary',
      );
    }
    await stranger.close();
    expect((await test().server()).runs).toBe(false);
  });

  it('changes nothing where another BMC answers than the one that was enrolled', async () => {
    const { uuid } = await bmc().identify();
    expect(uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const known = test().open({ ...test().connection, uuid });
    const other = test().open({ ...test().connection, uuid: '00000000-0000-4000-8000-000000000001' });
    await test().rest();
    await expect(other.powerOn()).rejects.toEqual(failed('other_bmc', true));
    await expect(other.setPassword('2', 'another-one-1')).rejects.toEqual(
      expect.objectContaining({ permanent: true }),
    );
    expect((await test().server()).runs).toBe(false);
    await known.powerOn();
    expect((await test().server()).runs).toBe(true);
    await Promise.all([known.close(), other.close()]);
  });

  it('refuses what leads nowhere before it says anything', () => {
    const { connection, open } = test();
    for (const wrong of [
      { address: '-h' },
      { address: 'bmc.example.com' },
      { address: '192.0.2.1 -x' },
      { port: 0 },
      { port: 65_536 },
      { user: 'a b' },
      { user: 'seventeen-letters' },
      { password: '' },
      { password: 'two words' },
      { password: 'a\nb' },
    ])
      expect(() => open({ ...connection, ...wrong }), JSON.stringify(wrong)).toThrow(
        expect.objectContaining({ code: 'spec_invalid' }),
      );
  });
}

function describeSerial(test: () => BmcUnderTest, bmc: () => Bmc): void {
  it('shows the serial line, both ways, whatever is typed', async () => {
    await bmc().powerOn();
    expect(await bmc().showsSerial()).toBe(true);
    const line = await bmc().openSerial();
    const heard = listen(line);
    await test().print('login: ');
    await expect.poll(() => heard.text).toContain('login: ');
    line.write('root\r~.\r~~?&#\r');
    await expect.poll(() => test().typed()).toContain('root\r~.\r~~?&#\r');
    await test().print('and on');
    await expect.poll(() => heard.text).toContain('and on');
    line.destroy();
    await heard.ended;
    expect(heard.error).toBeNull();
  });

  it('gives it to the last who opens it, and tells the one before', async () => {
    const first = listen(await bmc().openSerial());
    const other = test().open(test().connection);
    const second = await other.openSerial();
    await first.ended;
    expect(first.error).toEqual(failed('serial_taken'));
    const heard = listen(second);
    await test().print('here');
    await expect.poll(() => heard.text).toContain('here');
    await other.close();
    await heard.ended;
  });

  it('tells when it is taken from outside, and takes over what a dead process left open', async () => {
    const first = listen(await bmc().openSerial());
    await test().takeSerial();
    await first.ended;
    expect(first.error).toEqual(failed('serial_taken'));
    const line = await bmc().openSerial();
    const heard = listen(line);
    await test().print('ours again');
    await expect.poll(() => heard.text).toContain('ours again');
    line.destroy();
    await heard.ended;
  });
}

function describeReadings(test: () => BmcUnderTest, bmc: () => Bmc): void {
  it('identifies itself and its server', async () => {
    const identity = await bmc().identify();
    expect(identity).toEqual({
      uuid: expect.any(String),
      maker: 'Example',
      model: 'R1',
      serial: expect.stringContaining('1-0001'),
      firmware: expect.stringMatching(/^\d+\.\d+/),
    });
    expect(await bmc().identify()).toEqual(identity);
  });

  it('tells what it measures, with its limits', async () => {
    expect(await bmc().readSensors()).toContainEqual({
      name: expect.stringMatching(/temp/i),
      kind: 'temperature',
      unit: 'celsius',
      value: 34,
      state: 'ok',
      limits: { lowCritical: null, lowWarning: null, highWarning: 112, highCritical: 144 },
    });
  });

  it('tells what it noted, the oldest first', async () => {
    const before = await bmc().readEvents();
    await test().note();
    await test().note();
    const events = await bmc().readEvents();
    expect(events).toHaveLength(before.length + 2);
    expect(events.slice(0, before.length)).toEqual(before);
    for (const { id, message } of events)
      expect([id, message]).toEqual([expect.any(String), expect.stringMatching(/./)]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('tells what is unsafe, and what to do about it', async () => {
    const { findings, services, cipherSuites } = await bmc().readSecurity();
    expect(findings.map(({ code }) => code)).toEqual(test().unsafe);
    expect(services).toEqual(test().services);
    expect(cipherSuites).toContain(3);
    for (const { message } of findings) expect(message).toMatch(/\.$/);
  });
}

function describeAccounts(test: () => BmcUnderTest, bmc: () => Bmc): void {
  const named = async (name: string) => (await bmc().listAccounts()).find((each) => each.name === name);

  it('lists who may sign in', async () => {
    expect(await named('root')).toEqual(expect.objectContaining({ id: '2', access: 'administrator' }));
    expect(await named('guest')).toEqual(expect.objectContaining({ id: '3', access: 'operator' }));
    expect(await bmc().signsIn('guest', 'guest-pass-1')).toBe(true);
    expect(await bmc().signsIn('guest', 'guest-pass-2')).toBe(false);
    expect(await bmc().signsIn('nobody', 'guest-pass-1')).toBe(false);
  });

  it('refuses passwords that some BMC would cut, and accounts that it does not have', async () => {
    for (const password of ['short-1', 'seventeen-letters', 'two words', 'línea-1234', 'a\nbcdefgh'])
      await expect(bmc().setPassword('3', password), password).rejects.toEqual(failed('spec_invalid', true));
    for (const id of ['', '9', '-1', '3; x', '../1'])
      await expect(bmc().setPassword(id, 'a-password-1'), id).rejects.toEqual(failed('account_absent', true));
    expect(await bmc().signsIn('guest', 'guest-pass-1')).toBe(true);
  });

  it('sets the password of another account, of any characters', async () => {
    const password = `a"b'$\\c;&|<>-#1`;
    await bmc().setPassword('3', password);
    await bmc().setPassword('3', password);
    expect(await bmc().signsIn('guest', password)).toBe(true);
    expect(await bmc().signsIn('guest', 'guest-pass-1')).toBe(false);
  });

  it('shuts a foreign account out for good, as often as asked', async () => {
    await bmc().setPassword('3', 'guest-pass-3');
    await bmc().shutOut('3');
    await bmc().shutOut('3');
    expect(await bmc().signsIn('guest', 'guest-pass-3')).toBe(false);
    const guest = await named('guest');
    expect(guest === undefined || guest.access === 'none' || guest.isEnabled === false).toBe(true);
    await expect(bmc().shutOut('2')).rejects.toEqual(failed('spec_invalid', true));
  });

  it('gives its own account another password, goes on with it, and no longer gets in with the one before', async () => {
    const { connection, open } = test();
    const password = 'Sixteen-letters1';
    await bmc().setPassword('2', password);
    expect(await bmc().readPower()).toBe('on');
    const before = open(connection);
    await expect(before.readPower()).rejects.toEqual(failed('sign_in_refused', true));
    const after = open({ ...connection, password });
    expect(await after.readPower()).toBe('on');
    await Promise.all([before.close(), after.close()]);
    await bmc().setPassword('2', connection.password);
    expect(await bmc().signsIn('root', connection.password)).toBe(true);
  });
}

interface Heard {
  text: string;
  error: unknown;
  ended: Promise<unknown>;
}

function listen(line: Duplex): Heard {
  const heard: Heard = {
    text: '',
    error: null,
    ended: new Promise((resolve) => line.once('close', resolve)),
  };
  line.on('data', (chunk: Buffer) => {
    heard.text += chunk.toString('latin1');
  });
  line.on('error', (error) => {
    heard.error = error;
  });
  return heard;
}

function causesOf(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...causesOf(error.cause)] : [];
}
