import type { SimulatedBmc } from '../../drivers/bmc/index.ts';
import type { WipeMethod } from '../../drivers/installer/index.ts';
import type { Drive, Installer, Told } from './installer.ts';

/** What played servers hang on. */
export interface PlayedNetwork {
  /** What a machine with this MAC is told to start. Fails where nobody answers. */
  starts(mac: string): Promise<string>;
  /** The program of our installer, as a machine runs it that started with this script. */
  installer(script: string): Installer;
  /** Addresses at which a server greets by SSH. */
  greets: Set<string>;
}

/** What plays a server that is switched by a simulated BMC: it starts what it is told to, and its installer does as its plan says. */
export interface PlayedServer {
  bmc: SimulatedBmc;
  /** What it was told to start, each time that it started from the network. */
  told: ('installer' | 'disk')[];
  /** The plans that its installers were given. */
  plans: Plan[];
  /** How often its disks were wiped. */
  wipes: number;
  /** Addresses of the system that is on its disks; null: none is. */
  system: string[] | null;
  /** Whether it runs our installer, or is on its way there. */
  isInstalling: boolean;
  /** What it does otherwise than a server that is well. */
  does: Misbehaviour;
  /** Of the installer that runs now. */
  installer: Installer | null;
  /** Whoever works on it starts it anew, as by `reboot`. */
  reboot(): void;
  /** Its power goes, and comes again; its BMC was told nothing. */
  cutPower(): void;
  /** It goes on where whoever played it before left it: its system runs on, anything else starts from the network. */
  goOn(): void;
}

export interface PlayedParts {
  mac: string;
  disks: string[];
  bmc: SimulatedBmc;
  /** What its disks are, by their serial numbers. Default: NVMe disks of 960 GB. */
  drives?: Readonly<Record<string, Drive>>;
  /** Default: none. */
  serial?: string;
  /** Of its BMC as it sees it from inside. Default: it sees none. */
  bmcAddress?: string;
  /** As {@link PlayedServer}; default: never wiped and nothing installed. */
  left?: Pick<PlayedServer, 'wipes' | 'system' | 'isInstalling'>;
  /** What each of its disks is said to have had wiped. Default: a hundred. */
  diskBytes?: number;
  /** Default: overwritten. */
  wipedBy?: WipeMethod;
  /** Milliseconds that each of its installer's steps takes. Default: no time at all. */
  stepMs?: number;
  /** What it starts, and what its installer calls, is tried for again, for as long as it is on; without, it then hangs. */
  triesAgain?: boolean;
  /** Its system says on its serial line who it is, and shows what is typed there. */
  speaks?: boolean;
  /** Called when something of it has changed. */
  noted?: () => void;
}

// biome-ignore lint/suspicious/noExplicitAny: what it is told is held against what is expected of it
type Plan = any;

export interface Misbehaviour {
  /** It goes on and starts nothing. */
  startsNothing?: boolean;
  /** The disks that it says it has. */
  hasDisks?: string[];
  /** What else it says of itself than {@link PlayedParts} has it. */
  says?: Partial<Told>;
  /** It refuses to wipe this one. */
  keeps?: string;
  /** Says so much of this kind instead of its end, so many times. */
  fails?: { reason: string; times: number };
  /** It stops in the middle of writing, and says nothing any more, so many times. */
  hangs?: number;
  /** It says without end that as much of the system has come as before. */
  isStill?: boolean;
  /** Its installer ends at this step and says nothing of it, so many times: it starts anew. */
  dies?: { at: string; times: number };
  /** It reaches nobody: the plug of its network is out. */
  isUnplugged?: boolean;
  /** It says that it is done, and nothing of its disks. */
  lies?: boolean;
  /** This is printed on its line instead of its nonce. */
  prints?: string;
  /** What was installed on it does not greet. */
  isMute?: boolean;
  /** Called when it has come to a step. */
  at?: (step: string) => Promise<void>;
}

const againMs = 500;
/** So often it asks what to do, where its steps take no time. */
const askMs = 50;

/** Plays one behind a BMC, on the network of a product. */
export function playServer(network: PlayedNetwork, parts: PlayedParts): PlayedServer {
  const { mac, disks, bmc, serial = '', bmcAddress = null, stepMs = 0, triesAgain = false } = parts;
  const {
    diskBytes = 100,
    drives = {},
    wipedBy = 'overwrite',
    speaks = false,
    left = { wipes: 0, system: null, isInstalling: false },
    noted = () => undefined,
  } = parts;
  let run = 0;
  const it: PlayedServer = {
    ...{ bmc, told: [], plans: [], does: {}, installer: null, ...left },
    reboot: () => bmc.changed?.('on', 'network'),
    cutPower() {
      bmc.power = 'off';
      bmc.changed?.('off', null);
      bmc.power = 'on';
      bmc.changed?.('on', 'network');
    },
    goOn() {
      if (bmc.power === 'off') return;
      if (it.system === null || it.isInstalling) return bmc.changed?.('on', 'network');
      run += 1;
      greetsAt(it.system);
    },
  };
  const isOn = (mine: number) => run === mine && bmc.power === 'on';
  let greeting: string[] = [];
  const greetsAt = (addresses: string[]) => {
    for (const address of greeting) network.greets.delete(address);
    greeting = it.does.isMute ? [] : addresses;
    for (const address of greeting) network.greets.add(address);
  };
  bmc.changed = (power) => {
    // Whatever ran on it runs no more.
    greetsAt([]);
    run += 1;
    if (power === 'on' && !it.does.startsNothing) void begin(run);
  };

  if (speaks) {
    const runs = () => bmc.power === 'on' && it.system !== null && !it.isInstalling;
    const greeting = '\r\nA simulated server: nothing runs on it that could answer.\r\n> ';
    bmc.line.onOpen = () => runs() && bmc.line.print(greeting);
    bmc.line.onTyped = (text) => runs() && bmc.line.print(text.replaceAll('\r', greeting));
  }

  async function begin(mine: number): Promise<void> {
    while (isOn(mine)) {
      try {
        return await start(mine);
      } catch {
        if (!triesAgain) return;
        await pause(againMs);
      }
    }
  }

  // Network first in its boot order for ever, whatever its BMC says.
  async function start(mine: number): Promise<void> {
    if (it.does.isUnplugged) throw new Error('nobody answers');
    const script = await network.starts(mac);
    if (!isOn(mine)) return;
    const answer = script.includes('innkeeper.token=') ? 'installer' : 'disk';
    it.told.push(answer);
    it.isInstalling = answer === 'installer';
    noted();
    if (answer === 'installer') {
      const after = await install(mine, network.installer(script)).catch((error: unknown) => {
        if (error instanceof Died) return undefined;
        throw error;
      });
      if (!isOn(mine)) return;
      if (after !== 'off') return start(mine);
      it.isInstalling = false;
      noted();
      bmc.power = 'off';
      bmc.changed?.('off', null);
      return;
    }
    greetsAt(it.system ?? []);
  }

  async function install(mine: number, installer: Installer): Promise<string | undefined> {
    it.installer = installer;
    await installer.claim();
    const nonce = it.does.prints ?? installer.nonce;
    const parts = { mac, serial, bmcAddress, disks: it.does.hasDisks ?? disks, drives };
    await installer.tells({ ...parts, ...it.does.says });
    let plan: Plan = { task: 'wait' };
    while (isOn(mine) && (plan?.task === 'wait' || plan?.task === 'bmc')) {
      if (plan.task === 'bmc') await setAccount(installer, plan.bmc);
      bmc.line.print(`\r\nINNKEEPER-PROOF ${nonce}\r\n`);
      await pause(Math.max(askMs, stepMs));
      plan = await installer.plan();
    }
    if (isOn(mine) && plan?.task === 'rescue') return void (await rescue(mine, installer, plan));
    if (!isOn(mine) || (plan?.task !== 'install' && plan?.task !== 'wipe')) return;
    it.plans.push(plan);
    const says = async (report: object) => {
      // It tries until somebody answers.
      while (isOn(mine) && it.does.isUnplugged) await pause(askMs);
      return isOn(mine) && installer.call('POST', 'report', report);
    };
    const comesTo = async (step: string) => {
      await says({ kind: 'step', step, seconds: 1 });
      await it.does.at?.(step);
      const { dies } = it.does;
      if (dies !== undefined && dies.times > 0 && step.startsWith(dies.at)) {
        dies.times -= 1;
        throw new Died();
      }
      if (stepMs > 0) await pause(stepMs);
    };
    it.system = null;
    noted();
    for (const disk of plan.wipe) {
      await comesTo(`wipe ${disk}`);
      const isKept = it.does.keeps === disk;
      if (!it.does.lies) await says(wiped(disk, { bytes: diskBytes, method: wipedBy, isKept }));
      if (isKept) return void (await says({ kind: 'failed', reason: `the disk ${disk} could not be wiped` }));
    }
    it.wipes += 1;
    noted();
    if (plan.task === 'wipe') return void (await says({ kind: 'done' }));
    await comesTo('write');
    do {
      await says({ kind: 'progress', bytes: 8 });
      if (it.does.isStill) await pause(askMs);
    } while (isOn(mine) && it.does.isStill);
    if ((it.does.hangs ?? 0) > 0) {
      it.does.hangs = (it.does.hangs ?? 0) - 1;
      while (isOn(mine)) await pause(askMs);
      return;
    }
    const { fails } = it.does;
    if (fails !== undefined && fails.times > 0) {
      fails.times -= 1;
      return void (await says({ kind: 'failed', reason: fails.reason }));
    }
    if ((await installer.call('GET', 'image')).status !== 200)
      return void (await says({ kind: 'failed', reason: 'the image broke off' }));
    it.system = plan.identity.addresses.map(({ address }: { address: string }) => address);
    noted();
    await comesTo('boot');
    await says({ kind: 'done' });
    await says({ kind: 'done' });
    return plan.after;
  }

  async function rescue(mine: number, installer: Installer, plan: Plan): Promise<void> {
    it.plans.push(plan);
    await it.does.at?.('rescue');
    await installer.call('POST', 'report', { kind: 'done' });
    if (isOn(mine)) greetsAt((plan.addresses ?? []).map(({ address }: { address: string }) => address));
    while (isOn(mine)) await pause(askMs);
  }

  // Over the server's own bus, as the installer's script does it.
  async function setAccount(installer: Installer, { user, password }: { user: string; password: string }) {
    const known = bmc.accounts.find(({ name }) => name === user);
    if (known) Object.assign(known, { password, access: 'administrator', isEnabled: true });
    else {
      const id = String(Math.max(1, ...bmc.accounts.map((account) => Number(account.id))) + 1);
      bmc.accounts.push({ id, name: user, password, access: 'administrator', isEnabled: true });
    }
    noted();
    await installer.call('POST', 'report', { kind: 'bmc', address: bmcAddress, problem: null });
  }
  return it;
}

/** Its installer ended without a word. */
class Died extends Error {}

interface WipedHow {
  bytes: number;
  method: WipeMethod;
  isKept: boolean;
}

function wiped(serial: string, { bytes, method, isKept }: WipedHow) {
  return {
    ...{ kind: 'wiped', serial, bytes, method, marks: 4, marks_left: isKept ? 4 : 0 },
    ...{ not_zero: 0, seconds: 1, tried: [{ method, exit: 0, log: '' }] },
    drive: { smart_status: { passed: true } },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
