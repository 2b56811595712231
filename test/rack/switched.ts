import { afterAll, beforeAll, expect } from 'vitest';
import { openBmcs, type SimulatedBmc, simulatedRack } from '../../src/drivers/bmc/index.ts';
import { startTestProduct, type TestProduct } from '../product.ts';

/** A server that staff wrote down by hand, and the BMC that answers at its address. */
export interface SwitchedServer {
  id: number;
  name: string;
  address: string;
  bmc: SimulatedBmc;
}

/** For the tests of one file: a product whose servers are switched by simulated BMCs, and start nothing. */
export function switchedBed() {
  const rack = simulatedRack();
  let product: TestProduct;
  beforeAll(async () => {
    product = await startTestProduct({
      env: { HYPERVISOR: 'simulator' },
      drivers: { bmc: openBmcs({ rack, offForMs: 0 }) },
    });
  });
  afterAll(() => product.stop());

  let made = 0;
  const newAddress = () => {
    made += 1;
    return `192.0.2.${made}`;
  };
  /** How staff says that such a BMC is reached. */
  const reachedAt = (address: string) => ({
    ...{ kind: 'simulated', address, user: 'root', password: 'factory-1' },
  });
  return {
    rack,
    get product() {
      return product;
    },
    newAddress,
    reachedAt,
    async newServer(): Promise<SwitchedServer> {
      const address = newAddress();
      const [name, bmc] = [`s${made}`, rack.put(address)];
      const { status, body } = await product.staff.post('/staff/servers', {
        ...{ name, serial: `S/N ${made}`, bmc: reachedAt(address) },
      });
      expect(status, JSON.stringify(body)).toBe(200);
      return { id: body.data.server.id, name, address, bmc };
    },
    serverOf: async (id: number) => (await product.staff.get(`/staff/servers/${id}`)).body.data.server,
    ask: (id: number, action: string, body: object = {}) =>
      product.staff.post(`/staff/servers/${id}/${action}`, body),
  };
}
