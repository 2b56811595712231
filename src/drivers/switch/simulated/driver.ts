import { checkConnection, checkVlan, plainMac, type SwitchConnection } from '../connection.ts';
import type { Switch, SwitchCapability, SwitchIdentity, SwitchPort, Within } from '../contract.ts';
import { SwitchError } from '../failure.ts';
import { notSupported } from '../lacks.ts';

/** A switch in memory, as somebody sees it who stands in front of it. */
export interface SimulatedSwitch {
  identity: SwitchIdentity;
  uptimeMs: number;
  ports: (SwitchPort & { macs: string[]; vlan: number | null })[];
  user: string;
  authPassphrase: string;
  privacyPassphrase: string;
  capabilities: readonly SwitchCapability[];
  /** What goes wrong, until it is switched off again. */
  failing: {
    /** Nothing is heard of it. */
    isSilent?: boolean;
    /** It says yes and does nothing. */
    saysYes?: boolean;
    /** What it answers is none of a switch. */
    isNonsense?: boolean;
  };
}

/** Switches by their addresses, as a network has them. */
export interface SimulatedSwitches {
  put(address: string, more?: Partial<SimulatedSwitch>): SimulatedSwitch;
  at(address: string): SimulatedSwitch | null;
}

export function simulatedSwitches(): SimulatedSwitches {
  const all = new Map<string, SimulatedSwitch>();
  return {
    put(address, more = {}) {
      const whole: SimulatedSwitch = {
        identity: { name: 'sw1', description: 'A simulated switch' },
        ...{ uptimeMs: 86_400_000, ports: [], capabilities: ['vlans'], failing: {} },
        ...{ user: 'innkeeper', authPassphrase: 'auth-pass-123', privacyPassphrase: 'priv-pass-123' },
        ...more,
      };
      all.set(address, whole);
      return whole;
    },
    at: (address) => all.get(address) ?? null,
  };
}

/** The switch at an address of those that are simulated. Nothing is said to it yet. */
export function simulatedSwitch(switches: SimulatedSwitches, connection: SwitchConnection): Switch {
  checkConnection(connection);
  const { address } = connection;

  async function spokenTo({ timeoutMs = 1_000 }: Within = {}): Promise<SimulatedSwitch> {
    const it = switches.at(address);
    if (it === null || it.failing.isSilent === true) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(timeoutMs, 20)));
      throw new SwitchError('switch_silent', `nothing is heard of ${address}`);
    }
    const isKnown = (['user', 'authPassphrase', 'privacyPassphrase'] as const).every(
      (name) => it[name] === connection[name],
    );
    if (!isKnown) throw new SwitchError('sign_in_refused', `${address} does not let us in`);
    if (it.failing.isNonsense === true)
      throw new SwitchError('answer_invalid', `what ${address} answers is none of a switch`);
    return it;
  }
  async function portOf(name: string, within?: Within) {
    const it = await spokenTo(within);
    if (!it.capabilities.includes('vlans')) throw notSupported('vlans');
    const port = it.ports.find((each) => each.name === name);
    if (port === undefined) throw new SwitchError('port_absent', `${address} has no port ${name}`);
    return { port, it };
  }

  return {
    kind: 'simulated',
    get capabilities() {
      return switches.at(address)?.capabilities ?? [];
    },
    identify: async (within) => ({ ...(await spokenTo(within)).identity }),
    async readPorts(within) {
      const { uptimeMs, ports } = await spokenTo(within);
      return { uptimeMs, ports: ports.map(({ macs: _macs, vlan: _vlan, ...port }) => ({ ...port })) };
    },
    async findPort(mac, within) {
      const plain = plainMac(mac);
      const { ports } = await spokenTo(within);
      return ports.find(({ macs }) => macs.includes(plain))?.name ?? null;
    },
    readVlan: async (name, within) => (await portOf(name, within)).port.vlan,
    async setVlan(name, vlan, within) {
      checkVlan(vlan);
      const { port, it } = await portOf(name, within);
      if (it.failing.saysYes !== true) port.vlan = vlan;
      if (port.vlan !== vlan)
        throw new SwitchError('nothing_happened', `${address} still has ${name} in VLAN ${port.vlan}`);
    },
    close: async () => undefined,
  };
}
