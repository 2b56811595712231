import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Where customers' own programs listen: each of them is away now and then, and one of eight answers nothing but errors. */
export interface Hooks {
  urlFor(organizationId: number): string;
  /** What was taken, by organization: how often each event came. */
  taken: Map<number, Map<string, number>>;
  close(): Promise<void>;
}

export async function openHooks(isAway: (organizationId: number) => boolean): Promise<Hooks> {
  const taken = new Map<number, Map<string, number>>();
  const server = createServer(async (request, response) => {
    const organizationId = Number(/\/of\/(\d+)/.exec(request.url ?? '')?.[1]);
    await text(request);
    if (isAway(organizationId)) return void response.writeHead(500).end();
    const id = String(request.headers['webhook-id']);
    const times = taken.get(organizationId) ?? new Map<string, number>();
    taken.set(organizationId, times.set(id, (times.get(id) ?? 0) + 1));
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    urlFor: (organizationId) => `http://127.0.0.1:${port}/of/${organizationId}`,
    taken,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}
