/** The product beside a rack of emulated servers: a program of its own, started by `delivery.ts`, the same composition as `src/main.ts`. */
import { readConfig } from '../src/config.ts';
import { openBmcs } from '../src/drivers/bmc/index.ts';
import { openNetboot } from '../src/drivers/netboot/index.ts';
import { baseUrlOf, startProduct } from '../src/product.ts';

/** Programs that stand for those of a host which has a rack. */
export interface RackPrograms {
  ipmi: { program: string; env: Record<string, string> };
  netboot: { program: string; env: Record<string, string> };
}

const config = readConfig(process.env);
const { ipmi, netboot } = JSON.parse(process.env.BENCH_RACK ?? '{}') as RackPrograms;
const silent = { stage: () => undefined, say: () => undefined };
const product = await startProduct(config, silent, {
  drivers: {
    bmc: openBmcs({ ipmi, offForMs: 100 }),
    netboot: (options) => openNetboot({ ...options, ...netboot }),
  },
});
process.on('SIGTERM', () => void product.stop().finally(() => process.exit(0)));
console.log(`Innkeeper is ready: ${baseUrlOf(config, product.port ?? 0)}/api `);
