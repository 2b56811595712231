import { runAsRoot } from '../../src/platform/host/program.ts';

/** The network that a rack's servers hang on: a bridge of this run's own namespace, as a switch whose ports reach us and not each other. */
export interface RackNetwork {
  bridge: string;
  /** Ours on it, and its first three numbers, with the dot. */
  address: string;
  subnet: string;
  /** A port, as QEMU's arguments for a network card on it. */
  port(mac: string, card?: string): Promise<string[]>;
  close(): Promise<void>;
}

const ip = (...args: string[]) => runAsRoot(['ip', ...args]);

/** `number` (0 to 255) tells the test files apart that run side by side: 10.78.<number>.0/24. */
export async function openRackNetwork(number: number): Promise<RackNetwork> {
  const bridge = `rack${number}`;
  const subnet = `10.78.${number}.`;
  const ports: string[] = [];
  await ip('link', 'add', bridge, 'type', 'bridge');
  await ip('address', 'add', `${subnet}1/24`, 'dev', bridge);
  await ip('link', 'set', bridge, 'up');
  return {
    bridge,
    subnet,
    address: `${subnet}1`,
    async port(mac, card = 'e1000e') {
      const tap = `${bridge}p${ports.length}`;
      ports.push(tap);
      await ip('tuntap', 'add', 'dev', tap, 'mode', 'tap');
      await ip('link', 'set', tap, 'master', bridge);
      await runAsRoot(['bridge', 'link', 'set', 'dev', tap, 'isolated', 'on']);
      await ip('link', 'set', tap, 'up');
      const id = `n${ports.length}`;
      const netdev = `tap,id=${id},ifname=${tap},script=no,downscript=no`;
      return ['-netdev', netdev, '-device', `${card},netdev=${id},mac=${mac},bootindex=1`];
    },
    async close() {
      for (const tap of ports) await ip('link', 'delete', tap);
      await ip('link', 'delete', bridge);
    },
  };
}
