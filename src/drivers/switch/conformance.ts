import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SwitchConnection } from './connection.ts';
import type { Switch, SwitchPort } from './contract.ts';
import { lackOf } from './lacks.ts';

/** What the suite needs to know of the switch that it tests. */
export interface SwitchUnderTest {
  connection: SwitchConnection;
  open(connection: SwitchConnection): Switch;
  /** A port with a server behind it that sends, and its MAC. */
  port: string;
  mac: string;
  /** Has the server send this many bytes and more. */
  send(bytes: number): Promise<void>;
  /** What the port itself has counted, seen from the other side. */
  counted(): Promise<{ in: bigint; out: bigint }>;
  /** Plugs the server out, or in again. */
  plug(isIn: boolean): Promise<void>;
  /** The VLAN of the port, seen from the other side; null where no engine sets it. */
  vlan(): Promise<number | null>;
  beSilent(isSilent: boolean): Promise<void>;
  /** How long the switch may take to show what it has counted. */
  showsWithinMs: number;
  close(): Promise<void>;
}

const failure = (code: string) => expect.objectContaining({ name: 'Error', code });

/** What every driver must do; `skip` is the reason why this host cannot run the suite, or null. */
export function describeSwitch(
  name: string,
  make: () => Promise<SwitchUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} keeps the contract of switches`, () => {
    let test: SwitchUnderTest;
    let opened: Switch;
    beforeAll(async () => {
      test = await make();
      opened = test.open(test.connection);
    }, 120_000);
    afterAll(async () => {
      await opened?.close();
      await test?.close();
    });

    const portOf = async (): Promise<SwitchPort> => {
      const { ports } = await opened.readPorts();
      const port = ports.find((each) => each.name === test.port);
      if (port === undefined) throw new Error(`no port ${test.port} among ${ports.map((each) => each.name)}`);
      return port;
    };
    const patience = () => ({ timeout: test.showsWithinMs, interval: 500 });

    it('says who it is, and since when it counts', async () => {
      const { name: called, description } = await opened.identify();
      expect([called, description].every((text) => text.length > 0)).toBe(true);
      const first = await opened.readPorts();
      expect(first.uptimeMs).toBeGreaterThan(0);
      expect((await opened.readPorts()).uptimeMs).toBeGreaterThanOrEqual(first.uptimeMs);
    });

    it('names each port once, with its speed', async () => {
      const { ports } = await opened.readPorts();
      const names = ports.map((port) => port.name);
      expect(new Set(names).size).toBe(names.length);
      expect(await portOf()).toMatchObject({ isUp: true, speedMbps: expect.any(Number) });
    });

    it('counts what the server sends as in, equal to the port’s own counters to the byte', {
      timeout: 120_000,
    }, async () => {
      const before = await test.counted();
      await test.send(200_000);
      const after = await test.counted();
      expect(after.in - before.in).toBeGreaterThan(200_000n);
      await expect.poll(async () => (await portOf()).counters, patience()).toEqual(after);
      expect(await test.counted()).toEqual(after);
    });

    it('knows at which port a MAC was heard, and of others that they were not', async () => {
      await test.send(1_000);
      expect(await opened.findPort(test.mac)).toBe(test.port);
      expect(await opened.findPort(test.mac.toUpperCase().replaceAll(':', '-'))).toBe(test.port);
      expect(await opened.findPort('02:00:5e:99:99:99')).toBeNull();
      await expect(opened.findPort('nonsense')).rejects.toEqual(failure('spec_invalid'));
    });

    it('says of a port that nothing is plugged in', { timeout: 120_000 }, async () => {
      await test.plug(false);
      await expect.poll(async () => (await portOf()).isUp, patience()).toBe(false);
      await test.plug(true);
      await expect.poll(async () => (await portOf()).isUp, patience()).toBe(true);
    });

    it('puts a port into a VLAN, as often as asked; or says in words that it cannot', async () => {
      if (!opened.capabilities.includes('vlans')) {
        const refusal = expect.objectContaining({ code: 'not_supported', message: lackOf('vlans') });
        await expect(opened.setVlan(test.port, 20)).rejects.toEqual(refusal);
        await expect(opened.readVlan(test.port)).rejects.toEqual(refusal);
        return;
      }
      for (const vlan of [20, 20, 30]) {
        await opened.setVlan(test.port, vlan);
        expect([await opened.readVlan(test.port), await test.vlan()]).toEqual([vlan, vlan]);
      }
      await expect(opened.setVlan('no such port', 20)).rejects.toEqual(failure('port_absent'));
      await expect(opened.setVlan(test.port, 4095)).rejects.toEqual(failure('spec_invalid'));
      expect(await test.vlan()).toBe(30);
    });

    it.each(['user', 'authPassphrase', 'privacyPassphrase'] as const)(
      'lets nobody in with another %s, and tells no passphrase',
      async (what) => {
        const other = test.open({ ...test.connection, [what]: 'another-secret' });
        const error = await other.readPorts({ timeoutMs: 3_000 }).catch((caught: unknown) => caught);
        // What cannot be decrypted some throw away without a word.
        const codes = ['sign_in_refused', ...(what === 'privacyPassphrase' ? ['switch_silent'] : [])];
        expect(codes).toContain((error as { code?: string }).code);
        expect(String((error as Error).stack)).not.toMatch(/another-secret|pass-123/);
        await other.close();
      },
    );

    it('is silent within the deadline when it does not answer, and answers again afterwards', async () => {
      await test.beSilent(true);
      const began = Date.now();
      await expect(opened.readPorts({ timeoutMs: 2_000 })).rejects.toEqual(
        expect.objectContaining({ code: 'switch_silent', waits: true, permanent: false }),
      );
      expect(Date.now() - began).toBeLessThan(3_000);
      await test.beSilent(false);
      expect((await opened.readPorts()).ports.length).toBeGreaterThan(0);
    });

    it.each([
      ['a name for an address', { address: 'switch.example.com' }],
      ['a short passphrase', { authPassphrase: 'short' }],
      ['no user', { user: '' }],
      ['a port that is none', { port: 0 }],
    ])('cannot be meant by %s', (_what, more) => {
      expect(() => test.open({ ...test.connection, ...more })).toThrow(failure('spec_invalid'));
    });
  });
}
