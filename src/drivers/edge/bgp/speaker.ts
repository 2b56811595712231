import type { ChannelCredentials, Client } from '@grpc/grpc-js';
import { EdgeError } from '../contract.ts';
import { type Family, gobgpApi, type ListedDestination, type ListedPeer, type Path } from './messages.ts';

/** gobgpd, over its gRPC interface. Everything fails with `edge_refused` when it is not there or does not want to. */
export interface Speaker {
  /** All of these in this order, at once: gobgpd does nothing else in between, and nothing at all when one of them is wrong. */
  tell(paths: readonly Path[]): Promise<void>;
  /** What stands in its table; of `exactly` these networks, where they are named. */
  list(family: Family, exactly?: readonly string[]): Promise<ListedDestination[]>;
  peers(): Promise<ListedPeer[]>;
  close(): Promise<void>;
}

/** No call waits for a router: gobgpd answers from its own memory. */
const patienceMs = 10_000;

type Callback = (error: Error | null) => void;
interface Stream<Row> {
  on(event: 'data', heard: (row: Row) => void): this;
  on(event: 'error', heard: (error: Error) => void): this;
  on(event: 'end', heard: () => void): this;
}
interface Api extends Client {
  AddPathStream(options: { deadline: number }, done: Callback): { write(request: object): void; end(): void };
  ListPath(request: object, options: { deadline: number }): Stream<{ destination: ListedDestination }>;
  ListPeer(request: object, options: { deadline: number }): Stream<{ peer: ListedPeer }>;
}
type ApiClass = new (
  address: string,
  creds: ChannelCredentials,
  options: Record<string, string | number>,
) => Api;

/** `address`: `unix:/run/gobgpd.sock`, or `127.0.0.1:50051`. */
export function speaker(address: string): Speaker {
  let opened: Promise<Api> | null = null;
  const api = () => {
    opened ??= connect(address);
    return opened;
  };
  const options = () => ({ deadline: Date.now() + patienceMs });
  const all = async <Row>(open: (api: Api) => Stream<Row>) => {
    const stream = open(await api());
    return new Promise<Row[]>((resolve, reject) => {
      const rows: Row[] = [];
      stream
        .on('data', (row) => rows.push(row))
        .on('error', (error) => reject(refused(address, error)))
        .on('end', () => resolve(rows));
    });
  };
  return {
    tell: async (paths) => {
      const gobgpd = await api();
      await new Promise<void>((resolve, reject) => {
        const call = gobgpd.AddPathStream(options(), (error) =>
          error === null ? resolve() : reject(refused(address, error)),
        );
        call.write({ paths });
        call.end();
      });
    },
    list: async (family, exactly = []) => {
      const prefixes = exactly.map((prefix) => ({ prefix, type: 0 }));
      const rows = await all((gobgpd) =>
        gobgpd.ListPath({ family, prefixes, enableOnlyBinary: true }, options()),
      );
      return rows.map(({ destination }) => destination);
    },
    peers: async () =>
      (await all((gobgpd) => gobgpd.ListPeer({ enableAdvertised: true }, options()))).map(({ peer }) => peer),
    close: async () => (await opened)?.close(),
  };
}

/** The library is loaded by whoever speaks to a gobgpd, and by nobody else's start. */
async function connect(address: string): Promise<Api> {
  const [{ credentials, loadPackageDefinition }, { fromJSON }] = await Promise.all([
    import('@grpc/grpc-js'),
    import('@grpc/proto-loader'),
  ]);
  const definition = fromJSON(gobgpApi, { longs: Number, defaults: true, arrays: true });
  const { apipb } = loadPackageDefinition(definition) as unknown as { apipb: { GobgpApi: ApiClass } };
  return new apipb.GobgpApi(address, credentials.createInsecure(), {
    // It is next door, and back a moment after it died.
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.min_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 500,
    'grpc.enable_http_proxy': 0,
    'grpc.max_receive_message_length': -1,
  });
}

function refused(address: string, error: Error): EdgeError {
  return new EdgeError('edge_refused', `gobgpd at ${address}: ${error.message}`, { cause: error });
}
