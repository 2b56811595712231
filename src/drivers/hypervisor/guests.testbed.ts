import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../../platform/host/program.ts';
import type { GuestIdentity, ImageSource, MachineSpec } from './contract.ts';
import type { SignIn } from './managementConformance.ts';

/** Guests of a test file, whichever engine runs them: what they are told, and who signs in to them. */
export interface TestGuests {
  image: ImageSource;
  identity: GuestIdentity;
  spec(number: number): MachineSpec;
  /** The identity's password, in clear. */
  password: string;
  other: { passwordHash: string; authorizedKey: string };
  inGuest(spec: MachineSpec, command: string, signIn?: SignIn): Promise<string>;
  signsIn(spec: MachineSpec, as: SignIn): Promise<boolean>;
  guestAddresses(spec: MachineSpec): Promise<string[]>;
  /** Whether a ping from an address that is not the guest's own is answered. */
  spoofs(spec: MachineSpec): Promise<boolean>;
}

const givenPassword = 'correct horse; $(battery) "staple"';
const otherPassword = "another 'one' entirely";

/** `dir` keeps the keys; `network` tells the test files apart that run side by side: 10.77.<network>.0/24. */
export async function testGuests(
  dir: string,
  network: number,
  recipe: string,
  size: Partial<MachineSpec>,
): Promise<TestGuests> {
  for (const key of ['key', 'other-key'])
    await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(dir, key)]);
  const publicKey = (key: string) => readFileSync(join(dir, `${key}.pub`), 'utf8').trim();
  const guests: TestGuests = {
    image: { slug: recipe, kind: 'build', recipe },
    identity: {
      hostname: 'guest',
      passwordHash: await hashOf(givenPassword),
      authorizedKeys: [publicKey('key')],
      nameservers: ['192.0.2.53'],
      userData: null,
    },
    password: givenPassword,
    other: { passwordHash: await hashOf(otherPassword), authorizedKey: publicKey('other-key') },
    spec: (number) => ({
      id: `test-${network}-${number}`,
      cpuCores: 1,
      memoryMib: 96,
      diskGib: 1,
      image: recipe,
      nic: {
        mac: `52:54:00:77:${String(network).padStart(2, '0')}:${String(number).padStart(2, '0')}`,
        portMbps: 100,
        addresses: [
          { family: 4, address: `10.77.${network}.${number + 9}`, prefix: 24, gateway: `10.77.${network}.1` },
          { family: 6, address: `fd77:${network}::${number + 9}`, prefix: 64, gateway: `fd77:${network}::1` },
        ],
      },
      ...size,
    }),
    async inGuest(spec, command, signIn = 'key') {
      const host = `root@${spec.nic.addresses[0]?.address}`;
      const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
      const ssh = (...more: string[]) => [
        'ssh',
        '-F',
        'none',
        ...[...options, ...more].flatMap((each) => ['-o', each]),
      ];
      const key = signIn === 'other key' ? 'other-key' : 'key';
      const byKey = [...ssh('BatchMode=yes'), '-i', join(dir, key), host, command];
      const byPassword = ['sshpass', '-e', ...ssh('PubkeyAuthentication=no'), host, command];
      const env = { SSHPASS: signIn === 'other password' ? otherPassword : givenPassword };
      return (await runProgram(signIn.endsWith('key') ? byKey : byPassword, { env, timeoutMs: 30_000 }))
        .stdout;
    },
    async signsIn(spec, as) {
      return guests.inGuest(spec, 'true', as).then(
        () => true,
        () => false,
      );
    },
    async guestAddresses(spec) {
      const lines = (await guests.inGuest(spec, 'ip -o addr show dev eth0')).matchAll(
        /inet6? ([0-9a-f.:]+)\//g,
      );
      return [...lines].map((match) => match[1] ?? '').filter((address) => !address.startsWith('fe80'));
    },
    async spoofs(spec) {
      const strange = `10.77.${network}.199`;
      const ping = `ping -c 1 -W 1 -I ${strange} 10.77.${network}.1 >/dev/null && echo through`;
      const script = `ip addr add ${strange}/24 dev eth0; ${ping}; ip addr del ${strange}/24 dev eth0`;
      return (await guests.inGuest(spec, script)).includes('through');
    },
  };
  return guests;
}

async function hashOf(password: string): Promise<string> {
  return (await runProgram(['openssl', 'passwd', '-6', '-stdin'], { input: password })).stdout.trim();
}
