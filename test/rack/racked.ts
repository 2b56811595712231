import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBmcs } from '../../src/drivers/bmc/index.ts';
import { openNetboot } from '../../src/drivers/netboot/index.ts';
import { runAsRoot, runProgram } from '../../src/platform/host/program.ts';
import { newCustomer, type Person } from '../people.ts';
import { startTestProduct, type TestProduct } from '../product.ts';
import { programIn, surroundings } from '../unpacked.ts';
import { freePort } from '../valkey.ts';
import { factory, type RackBmc, startBmc } from './bmc.ts';
import { openRackNetwork, type RackNetwork } from './network.ts';
import { buildServer, type Disk, type Server } from './server.ts';
import { newDedicated, type StockedServer, stockServer } from './stocked.ts';

/** A server without hardware that has all that a product wants of one: QEMU behind a BMC that has its power, on a network that it starts from. */
export interface Racked {
  network: RackNetwork;
  server: Server;
  bmc: RackBmc;
  /** What a product is told of the network that it serves. */
  env: Record<string, string>;
  /** `dnsmasq`, as the product starts it. */
  netboot: { program: string; env: Record<string, string> };
  /** The addresses of customers, whose gateway is us. */
  customers: { name: string; location: string; network: string };
  /** As enrolment leaves it. */
  stocked: StockedServer;
  close(): Promise<void>;
}

export interface RackedOptions {
  /** Of {@link openRackNetwork}. */
  number: number;
  /** The unpacked programs, and what `npm test` built: the installer and its systems. */
  tree: string;
  images: string;
  disks: Disk[];
}

const kinds = { nvme: 'nvme', sata: 'hdd' } as const;

/** Puts it into a rack of its own; what it is made of is kept in `dir`. Nothing is at its power button: it is switched by force. */
export async function openRacked(
  dir: string,
  { number, tree, images, disks }: RackedOptions,
): Promise<Racked> {
  const name = `r1-${number}`;
  const mac = `52:54:00:be:ef:${number.toString(16).padStart(2, '0')}`;
  const network = await openRackNetwork(number);
  try {
    // The BMC's own network port, and the customer's side of the same cable, here on the same bridge.
    const address = `${network.subnet}2`;
    for (const each of [`${address}/24`, `${network.subnet}65/27`])
      await runAsRoot(['ip', 'address', 'add', each, 'dev', network.bridge]);
    const server = await buildServer(join(dir, 'server'), tree, {
      ...{ disks, network: await network.port(mac), serial: name },
    });
    const [program, guestPort] = [join(dir, 'start'), await freePort()];
    const argv = server
      .commandLine('SERIAL', guestPort)
      .map((each) => `'${each}'`.replace('SERIAL', `'"$RACK_RUN"'/serial`));
    await writeFile(program, `#!/bin/sh\nif [ "$1" = start ]; then exec ${argv.join(' ')}; fi\n`, {
      mode: 0o755,
    });
    const port = 623;
    const bmc = await startBmc(tree, { server: program, guestPort, address, port, serial: name });
    return {
      ...{ network, server, bmc },
      env: {
        ...{ HYPERVISOR: 'simulator', IMAGES_DIR: images, RACK_INTERFACE: network.bridge, RACK_PORT: '0' },
        RACK_ADDRESSES: `${network.subnet}100-${network.subnet}150`,
        // ipmi_sim lets in by cipher suite 0, and cannot be told not to.
        INSECURE_BMCS: 'on',
      },
      netboot: { program: programIn(tree, 'dnsmasq'), env: surroundings(tree) },
      customers: { name: 'rack', location: 'RCK', network: `${network.subnet}64/27` },
      stocked: {
        ...{ name, mac, location: 'RCK', bmc: { address, port, ...factory } },
        disks: disks.map(({ serial, kind, mib }) => ({ serial, bytes: mib * 2 ** 20, kind: kinds[kind] })),
      },
      async close() {
        await bmc.close();
        await network.close();
      },
    };
  } catch (error) {
    await network.close();
    throw error;
  }
}

/** A product that sells such a server, and somebody who can pay for it. */
export interface Selling {
  product: TestProduct;
  customer: Person;
  productId: number;
  serverId: number;
  /** Runs a command on the server as its customer, who signs in by their key; fails when they are not let in, or when it fails. */
  ssh(address: string, command: string, timeoutMs?: number): Promise<string>;
}

/** Starts it. The customer's key is kept in `dir`. */
export async function sellRacked(dir: string, racked: Racked): Promise<Selling> {
  const product = await startTestProduct({
    env: racked.env,
    drivers: {
      bmc: openBmcs({ ipmi: racked.bmc.ipmi, offForMs: 100 }),
      netboot: (options) => openNetboot({ ...options, ...racked.netboot }),
    },
  });
  await product.staff.post('/staff/address-pools', racked.customers);
  const customer = await newCustomer(product, { creditMinor: 1_000_000 });
  const id = join(dir, 'id');
  await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', id]);
  const key = (await readFile(`${id}.pub`, 'utf8')).trim();
  await customer.post('/dashboard/account/ssh-keys', { name: 'mine', public_key: key });
  const productId = await newDedicated(product, 'R1');
  const serverId = await stockServer(product, 'R1', racked.stocked);
  return {
    ...{ product, customer, productId, serverId },
    async ssh(address, command, timeoutMs = 60_000) {
      const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
      const argv = ['ssh', '-i', id, ...options.flatMap((each) => ['-o', each])];
      return (await runProgram([...argv, `root@${address}`, command], { timeoutMs })).stdout;
    },
  };
}
