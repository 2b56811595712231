import { setTimeout as delay } from 'node:timers/promises';
import type { BmcConnection } from '../connection.ts';
import type { ServerPower } from '../contract.ts';
import type { BmcControls, Press } from '../controls.ts';
import { BmcError } from '../failure.ts';
import type { SimulatedAccount, SimulatedBmc, SimulatedRack } from './rack.ts';

/** What a BMC of a simulated rack is told and answers, with the failures that were switched on. */
export function simulatedControls(rack: SimulatedRack, connection: BmcConnection): BmcControls {
  const { address, user } = connection;
  let { password } = connection;

  async function reach(leftMs: number): Promise<SimulatedBmc> {
    const bmc = rack.at(address);
    const { silent, slowMs = 0 } = bmc?.failing ?? {};
    if (slowMs > 0) await delay(Math.min(slowMs, leftMs));
    if (bmc === null || silent === 'before' || slowMs >= leftMs) return silence(leftMs - slowMs);
    return bmc;
  }

  async function read<T>(leftMs: number, work: (bmc: SimulatedBmc) => T): Promise<T> {
    const bmc = await reach(leftMs);
    if (!opens(bmc, user, password)) throw new BmcError('sign_in_refused', 'the BMC does not let us in');
    return work(bmc);
  }

  async function change(leftMs: number, work: (bmc: SimulatedBmc) => void): Promise<void> {
    const failing = await read(leftMs, (bmc) => {
      if (!bmc.failing.saysYes) work(bmc);
      const { failing } = bmc;
      if (failing.silent === 'after') bmc.failing = { ...failing, silent: 'before' };
      return failing;
    });
    if (failing.silent === 'during') await silence(leftMs);
  }

  return {
    kind: 'simulated',
    capabilities: ['serial'],
    identify: (leftMs) => read(leftMs, ({ identity }) => identity),
    readPower: (leftMs) => read(leftMs, ({ power }) => power),
    press: (what, leftMs) => change(leftMs, (bmc) => press(bmc, what)),
    readNextBoot: (leftMs) => read(leftMs, ({ nextBoot }) => nextBoot?.from ?? null),
    setNextBoot: (boot, leftMs) =>
      change(leftMs, (bmc) => {
        bmc.nextBoot = boot;
      }),
    openSerial: (leftMs) =>
      read(leftMs, ({ line, failing }) => {
        if (!failing.noSerial) return line.open();
        throw new BmcError('not_supported', 'the BMC does not say that it shows its serial line');
      }),
    showsSerial: (leftMs) => read(leftMs, ({ failing }) => !failing.noSerial),
    serialHolder: (leftMs) => read(leftMs, ({ line }) => line.holder()),
    readSensors: (leftMs) => read(leftMs, ({ sensors }) => sensors),
    readEvents: (leftMs) => read(leftMs, ({ events }) => events.slice(-200)),
    listAccounts: (leftMs) =>
      read(leftMs, ({ accounts }) =>
        accounts.map(({ id, name, access, isEnabled }) => ({ id, name, access, isEnabled })),
      ),
    setPassword: ({ id }, next, leftMs) =>
      change(leftMs, (bmc) => {
        of(bmc, id).password = next.slice(0, bmc.failing.cutsPasswordsAt);
      }),
    takeAccess: ({ id }, leftMs) =>
      change(leftMs, (bmc) => {
        of(bmc, id).access = 'none';
      }),
    disable: ({ id }, leftMs) =>
      change(leftMs, (bmc) => {
        of(bmc, id).isEnabled = false;
      }),
    signsIn: async (name, tried, leftMs) => opens(await reach(leftMs), name, tried),
    becomes: (next) => {
      password = next;
    },
    readCipherSuites: (leftMs) => read(leftMs, ({ cipherSuites }) => cipherSuites),
    readServices: (leftMs) => read(leftMs, ({ services }) => services),
    letsInWithoutPassword: (leftMs) => read(leftMs, ({ failing }) => failing.letsInWithoutPassword ?? false),
    letsInWithoutName: (leftMs) => read(leftMs, ({ failing }) => failing.letsInWithoutName ?? false),
    close: async () => undefined,
  };
}

async function silence(leftMs: number): Promise<never> {
  await delay(Math.max(0, leftMs));
  throw new BmcError('bmc_silent', 'the BMC did not answer in time');
}

function opens({ accounts, failing }: SimulatedBmc, user: string, password: string): boolean {
  const account = accounts.find(({ name }) => name === user);
  if (account === undefined || !account.isEnabled || account.access === 'none') return false;
  // One that cuts what it stores cuts what it is given to compare as well.
  return account.password === password.slice(0, failing.cutsPasswordsAt);
}

function of({ accounts }: SimulatedBmc, id: string): SimulatedAccount {
  const found = accounts.find((each) => each.id === id);
  if (found) return found;
  throw new BmcError('bmc_refused', 'the BMC has no such account');
}

function press(bmc: SimulatedBmc, what: Press): void {
  if (what === 'button' && bmc.failing.ignoresButton) return;
  if (what === 'reset' && bmc.power === 'off') throw new BmcError('bmc_refused', 'the server is off');
  if (what === 'on' && bmc.power === 'on') return;
  const power: ServerPower = what === 'on' || what === 'reset' ? 'on' : 'off';
  const from = power === 'on' ? (bmc.nextBoot?.from ?? 'disk') : null;
  if (from !== null) {
    bmc.starts.push(from);
    bmc.nextBoot = null;
  }
  bmc.power = power;
  bmc.changed?.(power, from);
}
