/** The product above the simulated cluster of another process, whose address is in SIMULATED_CLUSTER: it may die, and the cluster lives on. */
import { readConfig } from '../../src/config.ts';
import { baseUrlOf, startProduct } from '../../src/product.ts';
import { remoteCluster } from './remoteCluster.ts';

const config = readConfig(process.env);
const silent = { stage: () => undefined, say: () => undefined };
const openCluster = remoteCluster(process.env.SIMULATED_CLUSTER ?? '');
const { port } = await startProduct(config, silent, { drivers: { openCluster } });
console.log(`Innkeeper is ready: ${baseUrlOf(config, port ?? config.port)}/api`);
