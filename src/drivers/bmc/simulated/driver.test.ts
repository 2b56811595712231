import { describe, expect, it } from 'vitest';
import { type BmcUnderTest, describeBmc } from '../conformance.ts';
import type { BmcConnection } from '../connection.ts';
import { openBmcs } from '../open.ts';
import { type SimulatedFailures, simulatedRack } from './rack.ts';

const address = '192.0.2.10';
const connection: BmcConnection = { kind: 'simulated', address, user: 'root', password: 'factory-1' };

function start() {
  const rack = simulatedRack();
  const bmc = rack.put(address);
  const open = openBmcs({ rack, offForMs: 0 });
  return { rack, bmc, open, fail: (failing: SimulatedFailures) => Object.assign(bmc, { failing }) };
}

async function underTest(): Promise<BmcUnderTest> {
  const { bmc, open, fail } = start();
  return {
    open,
    connection,
    server: async () => ({ runs: bmc.power === 'on', starts: [...bmc.starts] }),
    rest: async () => void Object.assign(bmc, { power: 'off', nextBoot: null }),
    ignoreButton: async (is) => void fail({ ignoresButton: is }),
    sayYes: async (is) => void fail({ saysYes: is }),
    beSilent: async (is) => void fail(is ? { silent: 'before' } : {}),
    print: async (text) => bmc.line.print(text),
    typed: async () => bmc.line.typed,
    takeSerial: async () => bmc.line.take(),
    note: async () => {
      bmc.events.push({ id: String(bmc.events.length), at: null, subject: 'CPU Temp', message: 'too hot' });
    },
    unsafe: [],
    services: ['HTTPS', 'IPMI'],
    close: async () => undefined,
  };
}

describeBmc('a simulated BMC', underTest);

const failed = (code: string) => expect.objectContaining({ code });

describe('a BMC that is not well', () => {
  it('and loses the answer to what it does has done it: the call succeeds, once it is read back', async () => {
    const { bmc, open, fail } = start();
    fail({ silent: 'during' });
    const silent = open(connection);
    // Its answer to the press takes all of a call's time; what it did stands.
    await expect(silent.powerOn({ timeoutMs: 300 })).rejects.toEqual(failed('bmc_silent'));
    expect([bmc.power, bmc.starts]).toEqual(['on', ['disk']]);
    await silent.powerOn();
    expect(bmc.starts).toEqual(['disk']);
  });

  it('and falls silent after its yes leaves it open, and the same call again ends well', async () => {
    const { bmc, open, fail } = start();
    fail({ silent: 'after' });
    const silent = open(connection);
    await expect(silent.powerOn({ timeoutMs: 300 })).rejects.toEqual(failed('bmc_silent'));
    fail({});
    await silent.powerOn();
    expect([bmc.power, bmc.starts]).toEqual(['on', ['disk']]);
  });

  it('and is another one by now is not touched', async () => {
    const { rack, bmc, open } = start();
    const known = open({ ...connection, uuid: bmc.identity.uuid });
    const other = rack.put(address);
    await expect(known.powerOn()).rejects.toEqual(failed('other_bmc'));
    await expect(known.setPassword('3', 'another-one-1')).rejects.toEqual(failed('other_bmc'));
    expect([other.power, other.accounts.map(({ password }) => password)]).toEqual([
      'off',
      ['factory-1', 'guest-pass-1'],
    ]);
  });

  it('and says yes to a password that it drops, or to shutting somebody out, has not done it', async () => {
    const { open, fail } = start();
    fail({ saysYes: true });
    const lying = open(connection);
    await expect(lying.setPassword('3', 'another-one-1', { timeoutMs: 500 })).rejects.toEqual(
      failed('nothing_happened'),
    );
    await expect(lying.shutOut('3')).rejects.toEqual(failed('nothing_happened'));
    expect(await lying.signsIn('guest', 'guest-pass-1')).toBe(true);
  });

  it('and cuts a password is found out', async () => {
    const { open, fail } = start();
    fail({ cutsPasswordsAt: 12 });
    await expect(open(connection).setPassword('3', 'Sixteen-letters1')).rejects.toEqual(
      failed('password_cut'),
    );
  });

  it('and lets anybody in is said to, with each of the ways', async () => {
    const { bmc, open, fail } = start();
    fail({ letsInWithoutPassword: true, letsInWithoutName: true });
    bmc.accounts.push({
      id: '4',
      name: 'ADMIN',
      password: 'ADMIN',
      access: 'administrator',
      isEnabled: true,
    });
    bmc.accounts.push({
      id: '5',
      name: 'USERID',
      password: 'PASSW0RD',
      access: 'administrator',
      isEnabled: false,
    });
    const { findings } = await open(connection).readSecurity();
    expect(findings.map(({ code, account }) => [code, account])).toEqual([
      ['suite_0', null],
      ['anonymous_user', null],
      ['factory_user', 'ADMIN'],
    ]);
    const [root] = bmc.accounts;
    if (root) root.password = 'calvin';
    const own = await open({ ...connection, password: 'calvin' }).readSecurity();
    expect(own.findings.map(({ account }) => account)).toContain('root');
  });

  it('and says more than anybody reads is cut short', async () => {
    const { bmc, open } = start();
    const [sensor] = bmc.sensors;
    if (sensor === undefined) throw new Error('it measures nothing');
    bmc.sensors = Array.from({ length: 3_000 }, () => ({ ...sensor, name: `a\0${'n'.repeat(5_000)}` }));
    bmc.events = Array.from({ length: 3_000 }, (_, at) => ({
      ...{ id: String(at), at: null, subject: '\ud800', message: 'm'.repeat(5_000) },
    }));
    const sensors = await open(connection).readSensors();
    expect([sensors.length, sensors[0]?.name.length, sensors[0]?.name.slice(0, 3)]).toEqual([
      500,
      100,
      'a n',
    ]);
    const events = await open(connection).readEvents();
    expect([events.length, events.at(-1)]).toEqual([
      200,
      { id: '2999', at: null, subject: '\ufffd', message: 'm'.repeat(500) },
    ]);
  });

  it('of a kind that nobody runs here is refused in words', () => {
    expect(() => openBmcs()(connection)).toThrow(expect.objectContaining({ code: 'spec_invalid' }));
  });
});
