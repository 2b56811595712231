import type { GuestIdentity, MachineSpec } from '../contract.ts';

/** Machines for tests of the simulator. Another number: another machine. */
export function smallMachine(number: number): MachineSpec {
  return {
    id: `test-${number}`,
    cpuCores: 1,
    memoryMib: 64,
    diskGib: 1,
    image: 'tiny',
    nic: {
      mac: `52:54:00:00:00:0${number}`,
      portMbps: 100,
      addresses: [{ family: 4, address: `10.0.0.${number}`, prefix: 24, gateway: '10.0.0.254' }],
    },
  };
}

export const someIdentity: GuestIdentity = {
  hostname: 'a',
  passwordHash: '$6$a$b',
  authorizedKeys: [],
  nameservers: [],
  userData: null,
};
