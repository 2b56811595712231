import { type HypervisorCapability, hypervisorCapabilities } from '../capabilities.ts';
import { describeManagement, type ManagedDriverUnderTest } from '../managementConformance.ts';
import { simulatedHypervisor } from './driver.ts';
import { simulatorStore } from './store.ts';
import { smallMachine, someIdentity } from './testbed.ts';

const machine = async (capabilities: readonly HypervisorCapability[]): Promise<ManagedDriverUnderTest> => {
  const store = simulatorStore();
  const silent = new Set<string>();
  const open = () => simulatedHypervisor({ store, capabilities, guestIsSilent: (id) => silent.has(id) });
  let current = open();
  return {
    hypervisor: current,
    image: { slug: 'tiny', kind: 'build', recipe: 'tiny' },
    spec: smallMachine,
    identity: someIdentity,
    password: 'a',
    other: { passwordHash: '$6$c$d', authorizedKey: 'ssh-ed25519 AAAA other' },
    again: async () => {
      current = open();
      return current;
    },
    guestShutsDown: async ({ id }) => current.guestShutsDown(id),
    lose: async ({ id }) => current.lose(id),
    leftovers: async ({ id }) => [...store.machines.keys()].filter((each) => each === id),
    silence: async ({ id }, is) => void (is ? silent.add(id) : silent.delete(id)),
    guestAddresses: async ({ id }) => current.guestAddresses(id),
    inGuest: null,
    signsIn: null,
    spoofs: null,
    remove: () => undefined,
    readyTimeoutMs: 1_000,
    shutdownTimeoutMs: 1_000,
  };
};

describeManagement('the simulator', () => machine(hypervisorCapabilities));
describeManagement('a simulator that can only what it must', () => machine([]));
describeManagement('a simulator without snapshots and screen', () =>
  machine(hypervisorCapabilities.filter((each) => each !== 'snapshots' && each !== 'vnc')),
);
