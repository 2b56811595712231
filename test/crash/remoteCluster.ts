import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { deserialize, serialize } from 'node:v8';
import {
  type Cluster,
  HypervisorError,
  type HypervisorErrorCode,
  type OpenCluster,
} from '../../src/drivers/hypervisor/index.ts';
import { type SimulatedCluster, simulatedCluster } from '../simulatedCluster.ts';

/** What is asked of a cluster in another process; `member`: of that one through it. */
interface Call {
  member: string | null;
  method: string;
  given: unknown[];
}

type Answer =
  | { value: unknown }
  | { code: HypervisorErrorCode; message: string; permanent: boolean; waits: boolean };

/** Has a simulated cluster answer other processes, which may die meanwhile. */
export async function serveCluster(cluster: SimulatedCluster): Promise<{ url: string; close(): void }> {
  const opened = cluster.open(...nowhere);
  const answer = async ({ member, method, given }: Call): Promise<Answer> => {
    const asked = member === null ? opened : opened.on(member);
    try {
      const call = asked[method as keyof typeof asked] as (...args: unknown[]) => unknown;
      return { value: await call(...given.map((each) => (each === untold ? () => undefined : each))) };
    } catch (error) {
      if (!(error instanceof HypervisorError)) throw error;
      const { code, message, permanent, waits } = error;
      return { code, message, permanent, waits };
    }
  };
  const server = createServer((request, response) => {
    buffer(request)
      .then((body) => answer(deserialize(body)))
      .then(
        (answered) => response.end(serialize(answered)),
        (error: Error) => response.writeHead(500).end(error.stack),
      );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The cluster that {@link serveCluster} has there. What happens to machines it does not tell: it is found by looking. */
export function remoteCluster(url: string): OpenCluster {
  const shape = simulatedCluster([]).open(...nowhere);
  const behind = <T extends object>(thing: T, member: string | null): T =>
    new Proxy(thing, {
      get: (target, name) => {
        if (name === 'on') return (of: string) => behind(shape.on(of), of);
        if (name === 'watch') return () => () => undefined;
        if (name === 'listen' || name === 'close') return async () => undefined;
        const found = target[name as keyof T];
        if (typeof found !== 'function') return found;
        return (...given: unknown[]) => ask(url, { member, method: String(name), given: given.map(plain) });
      },
    });
  return () => behind<Cluster>(shape, null);
}

async function ask(url: string, call: Call): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', body: new Uint8Array(serialize(call)) });
  if (!response.ok) throw new Error(await response.text());
  const answer: Answer = deserialize(Buffer.from(await response.arrayBuffer()));
  if ('value' in answer) return answer.value;
  const { code, message, ...options } = answer;
  throw new HypervisorError(code, message, options);
}

/** What stands for whom to tell of progress: nobody in the other process. */
const untold = 'untold';

/** Without what cannot be told to another process, such as when to give up. */
function plain(given: unknown): unknown {
  if (typeof given === 'function') return untold;
  if (typeof given !== 'object' || given === null || !('signal' in given)) return given;
  return { ...given, signal: undefined };
}

/** Of a simulated cluster nothing of it is asked. */
const nowhere: Parameters<OpenCluster> = [
  {
    ...{ engine: 'incus', endpoints: [], fingerprints: [], serverCertificate: '', certificate: '', key: '' },
    ...{ project: '', pool: '', bridge: '' },
  },
  {} as Parameters<OpenCluster>[1],
];
