import type { SimulatedBmc } from '../../src/drivers/bmc/index.ts';
import type { ArrivingProduct, Installer } from './arriving.ts';

/** What plays a server that is switched by a simulated BMC: it starts what it is told to, and its installer does as its plan says. */
export interface PlayedServer {
  bmc: SimulatedBmc;
  /** What it was told to start, each time that it started from the network. */
  told: ('installer' | 'disk')[];
  /** The plans that its installers were given. */
  plans: Plan[];
  /** How often its disks were wiped. */
  wipes: number;
  /** What it does otherwise than a server that is well. */
  does: Misbehaviour;
  /** Of the installer that runs now. */
  installer: Installer | null;
  /** Whoever works on it starts it anew, as by `reboot`. */
  reboot(): void;
  /** Its power goes, and comes again; its BMC was told nothing. */
  cutPower(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: what it is told is held against what is expected of it
type Plan = any;

export interface Misbehaviour {
  /** It goes on and starts nothing. */
  startsNothing?: boolean;
  /** The disks that it says it has. */
  hasDisks?: string[];
  /** It refuses to wipe this one. */
  keeps?: string;
  /** Says so much of this kind instead of its end, so many times. */
  fails?: { reason: string; times: number };
  /** It stops in the middle of writing, and says nothing any more, so many times. */
  hangs?: number;
  /** It says that it is done, and nothing of its disks. */
  lies?: boolean;
  /** This is printed on its line instead of its nonce. */
  prints?: string;
  /** What was installed on it does not greet. */
  isMute?: boolean;
  /** Called when it has come to a step. */
  at?: (step: string) => Promise<void>;
}

/** Plays one with this MAC behind a BMC, on the network of a product. */
export function playServer(
  world: ArrivingProduct,
  { mac, disks, bmc }: { mac: string; disks: string[]; bmc: SimulatedBmc },
): PlayedServer {
  let run = 0;
  const it: PlayedServer = {
    ...{ bmc, told: [], plans: [], wipes: 0, does: {}, installer: null },
    reboot: () => bmc.changed?.('on', 'network'),
    cutPower() {
      bmc.power = 'off';
      bmc.changed?.('off', null);
      bmc.power = 'on';
      bmc.changed?.('on', 'network');
    },
  };
  const isOn = (mine: number) => run === mine && bmc.power === 'on';
  let installed: string[] = [];
  let greeting: string[] = [];
  const greets = (addresses: string[]) => {
    for (const address of greeting) world.greets.delete(address);
    greeting = addresses;
    if (!it.does.isMute) for (const address of greeting) world.greets.add(address);
  };
  bmc.changed = (power) => {
    greets([]);
    run += 1;
    const mine = run;
    if (power === 'on' && !it.does.startsNothing) void start(mine).catch(() => undefined);
  };

  // Network first in its boot order for ever, whatever its BMC says.
  async function start(mine: number): Promise<void> {
    const script = await world.starts(mac);
    if (!isOn(mine)) return;
    const answer = script.includes('innkeeper.token=') ? 'installer' : 'disk';
    it.told.push(answer);
    if (answer === 'installer') {
      await install(mine, world.installer(script));
      if (isOn(mine)) await start(mine);
      return;
    }
    if (it.wipes > 0) greets(installed);
  }

  async function install(mine: number, installer: Installer): Promise<void> {
    it.installer = installer;
    await installer.claim();
    const nonce = it.does.prints ?? installer.nonce;
    await installer.tells({ mac, disks: it.does.hasDisks ?? disks });
    let plan: Plan = { task: 'wait' };
    while (isOn(mine) && plan?.task === 'wait') {
      bmc.line.print(`\r\nINNKEEPER-PROOF ${nonce}\r\n`);
      await pause(50);
      plan = await installer.plan();
    }
    if (isOn(mine) && plan?.task === 'rescue') {
      it.plans.push(plan);
      await it.does.at?.('rescue');
      await installer.call('POST', 'report', { kind: 'done' });
      if (isOn(mine)) greets(plan.addresses.map(({ address }: { address: string }) => address));
      while (isOn(mine)) await pause(50);
      return;
    }
    if (!isOn(mine) || (plan?.task !== 'install' && plan?.task !== 'wipe')) return;
    it.plans.push(plan);
    const says = (report: object) => isOn(mine) && installer.call('POST', 'report', report);
    const comesTo = async (step: string) => {
      await says({ kind: 'step', step, seconds: 1 });
      await it.does.at?.(step);
    };
    for (const serial of plan.wipe) {
      await comesTo(`wipe ${serial}`);
      const isKept = it.does.keeps === serial;
      if (!it.does.lies) await says(wiped(serial, isKept));
      if (isKept)
        return void (await says({ kind: 'failed', reason: `the disk ${serial} could not be wiped` }));
    }
    it.wipes += 1;
    if (plan.task === 'wipe') {
      installed = [];
      return void (await says({ kind: 'done' }));
    }
    await comesTo('write');
    await says({ kind: 'progress', bytes: 8 });
    if ((it.does.hangs ?? 0) > 0) {
      it.does.hangs = (it.does.hangs ?? 0) - 1;
      while (isOn(mine)) await pause(50);
      return;
    }
    const { fails } = it.does;
    if (fails !== undefined && fails.times > 0) {
      fails.times -= 1;
      return void (await says({ kind: 'failed', reason: fails.reason }));
    }
    if ((await installer.call('GET', 'image')).status !== 200)
      return void (await says({ kind: 'failed', reason: 'the image broke off' }));
    installed = plan.identity.addresses.map(({ address }: { address: string }) => address);
    await comesTo('boot');
    await says({ kind: 'done' });
    await says({ kind: 'done' });
  }
  return it;
}

function wiped(serial: string, isKept: boolean) {
  return {
    ...{ kind: 'wiped', serial, bytes: 100, method: 'overwrite', marks: 4, marks_left: isKept ? 4 : 0 },
    ...{ not_zero: 0, seconds: 1, tried: [{ method: 'overwrite', exit: 0, log: '' }], drive: {} },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
