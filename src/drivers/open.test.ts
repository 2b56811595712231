import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../config.ts';
import { createLog } from '../platform/index.ts';
import { simulatedHypervisor } from './hypervisor/index.ts';
import { openDrivers, requireAll, type World } from './index.ts';
import { databaseMail } from './mail/index.ts';

function world(env: Record<string, string>, more: Partial<World> = {}): World {
  const data = { dir: '/nowhere', runDir: '/nowhere', runAs: null };
  const host = {
    config: readConfig(env),
    log: createLog('silent'),
    data,
    gateways: [],
    say: () => undefined,
  };
  return { ...host, enlist: null, ...more };
}

describe('the drivers of a process', () => {
  it.each([
    [{}, 'database', 'database'],
    [{ SMTP_URL: 'smtp://127.0.0.1:25' }, 'smtp', 'database'],
    [{ SMTP_URL: 'smtp://127.0.0.1:25', MAIL: 'database' }, 'database', 'database'],
    [{ DNS_URL: 'http://127.0.0.1:8081', DNS_API_KEY: 'k' }, 'database', 'powerdns'],
    [{ DNS_URL: 'http://127.0.0.1:8081', DNS: 'database' }, 'database', 'database'],
  ])('are chosen by the settings: %j', async (env, mail, dns) => {
    const { drivers, close } = await openDrivers(world(env));
    expect([drivers.mail?.kind, drivers.dns?.kind]).toEqual([mail, dns]);
    await close();
  });

  it.each([
    [{}, 'none'],
    [{ VAT: 'vies' }, 'vies'],
  ])('ask nobody about VAT ids unless they are told to: %j', async (env, kind) => {
    const { drivers, close } = await openDrivers(world(env));
    expect(drivers.vat?.kind).toBe(kind);
    await close();
  });

  it.each([{ MAIL: 'smtp' }, { MAIL: 'pigeon' }, { DNS: 'powerdns' }, { DNS: 'bind' }, { VAT: 'guess' }])(
    'are not opened with settings that say too little: %j',
    (env) => {
      expect(() => readConfig(env)).toThrow(ConfigError);
    },
  );

  it('include the hypervisor of the node that its host was written down as, and of no other', async () => {
    const given = { hypervisor: simulatedHypervisor() };
    const { drivers, close } = await openDrivers(world({}, { given, enlist: async () => 7 }));
    const { hypervisor } = requireAll(drivers);
    expect(hypervisor(7)).toBe(given.hypervisor);
    expect(() => hypervisor(8)).toThrow(
      expect.objectContaining({ code: 'host_not_ready', permanent: false }),
    );
    await close();
  });

  it.each([
    [{}, 'memory'],
    [{ EDGE: 'memory' }, 'memory'],
    [{ EDGE: 'none' }, null],
  ])('include the edge of that node, by the settings beside simulated machines: %j', async (env, kind) => {
    const given = { hypervisor: simulatedHypervisor() };
    const { drivers, close } = await openDrivers(world(env, { given, enlist: async () => 7 }));
    const { edge } = requireAll(drivers);
    if (kind !== null) expect(edge(7).kind).toBe(kind);
    else
      expect(() => edge(7)).toThrow(
        expect.objectContaining({
          ...{ code: 'nothing_filters', permanent: true },
          message: 'nothing filters at this node: EDGE is none',
        }),
      );
    expect(() => edge(8)).toThrow(expect.objectContaining({ code: 'edge_refused', permanent: false }));
    await close();
  });

  it('include the edge of a host that only filters, and the hypervisor of nobody', async () => {
    const enlisted: unknown[] = [];
    const enlist = async (hypervisor: unknown) => {
      enlisted.push(hypervisor);
      return 7;
    };
    const env = { HYPERVISOR: 'none', ROLE: 'worker', EDGE: 'memory' };
    const { drivers, close } = await openDrivers(world(env, { enlist }));
    const { edge, hypervisor } = requireAll(drivers);
    expect([enlisted, edge(7).kind]).toEqual([[null], 'memory']);
    expect(() => hypervisor(7)).toThrow(expect.objectContaining({ code: 'host_not_ready' }));
    await close();
  });

  it('include no hypervisor where no machines run, which jobs could not do without', async () => {
    const { drivers } = await openDrivers(world({}));
    expect(drivers.hypervisor).toBeUndefined();
    expect(() => requireAll(drivers)).toThrow('no driver for hypervisor');
  });

  it('are closed once each, last first, also when one cannot be opened', async () => {
    const closed: string[] = [];
    const noting = <Driver extends { close(): Promise<void> }>(name: string, driver: Driver): Driver => ({
      ...driver,
      close: async () => void closed.push(name),
    });
    const given = {
      hypervisor: noting('hypervisor', simulatedHypervisor()),
      mail: noting('mail', databaseMail()),
    };
    const { close } = await openDrivers(world({}, { given, enlist: async () => 7 }));
    await close();
    await close();
    expect(closed.splice(0)).toEqual(['mail', 'hypervisor']);
    const enlist = async () => {
      throw new Error('no such location');
    };
    await expect(openDrivers(world({}, { given, enlist }))).rejects.toThrow('no such location');
    expect(closed).toEqual(['hypervisor']);
  });
});
