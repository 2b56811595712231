/**
 * One end of real connections: runs in a network namespace, does what it is told by lines of JSON, and answers each. As a server it
 * says back what it hears, and ends or resets a connection when it hears that.
 */
import { createSocket } from 'node:dgram';
import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** How a connection ends: each end sends the last word, or breaks it off. */
export type Ending = 'by client' | 'by server' | 'reset by client' | 'reset by server';

export type Order =
  /** Datagrams are answered at these addresses, each from where they were sent to. */
  | { do: 'serve'; ports: number[]; datagramsTo?: string[] }
  /** Opens, says something, hears it back, and ends. From this port, if it matters. */
  | { do: 'call'; host: string; port: number; from?: number; ends: Ending; withinMs: number }
  | { do: 'open'; host: string; port: number; from?: number; withinMs: number }
  /** Over the connection that was opened as the nth. */
  | { do: 'say'; nth: number; text: string; withinMs: number }
  | { do: 'close'; nth: number }
  /** Sends datagrams, and tells of each whether it was said back. */
  | { do: 'datagrams'; host: string; port: number; from?: number; hex: readonly string[]; withinMs: number };

const opened: Socket[] = [];

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'serve':
      return Promise.all(order.ports.map((port) => serve(port, order.datagramsTo ?? [])));
    case 'call':
      return call(order);
    case 'open':
      return opened.push(await open(order)) - 1;
    case 'say':
      return hear(opened[order.nth] as Socket, order.text, order.withinMs);
    case 'close':
      return opened[order.nth]?.destroy() && null;
    case 'datagrams':
      return exchange(order);
  }
}

async function serve(port: number, datagramsTo: readonly string[]): Promise<void> {
  for (const host of datagramsTo) {
    const datagrams = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    datagrams.on('message', (data, from) => datagrams.send(data, from.port, from.address));
    await new Promise<void>((resolve) => datagrams.bind(port, host, resolve));
  }
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const text = String(data);
      if (text === 'reset by server') return socket.resetAndDestroy();
      socket.write(data);
      if (text === 'by server') socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '::', 4_096, resolve));
}

async function call(order: Extract<Order, { do: 'call' }>): Promise<null> {
  const socket = await open(order);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  if (order.ends === 'reset by server') {
    socket.write(order.ends);
    await within(ended, order.withinMs);
    return null;
  }
  await hear(socket, order.ends, order.withinMs);
  if (order.ends === 'by client') socket.end();
  if (order.ends === 'reset by client') socket.resetAndDestroy();
  await within(ended, order.withinMs);
  return null;
}

function open({
  host,
  port,
  from,
  withinMs,
}: {
  host: string;
  port: number;
  from?: number;
  withinMs: number;
}) {
  const socket = connect({ host, port, ...(from !== undefined && { localPort: from }) });
  const isOpen = new Promise<Socket>((resolve, reject) => {
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
  socket.on('error', () => undefined);
  return within(isOpen, withinMs, () => socket.destroy());
}

function hear(socket: Socket, text: string, withinMs: number): Promise<string> {
  const heard = new Promise<string>((resolve, reject) => {
    socket.once('data', (data) => resolve(String(data))).once('close', () => reject(new Error('closed')));
  });
  socket.write(text);
  return within(heard, withinMs);
}

function exchange(order: Extract<Order, { do: 'datagrams' }>): Promise<boolean[]> {
  const socket = createSocket({
    type: order.host.includes(':') ? 'udp6' : 'udp4',
    ipv6Only: order.host.includes(':'),
  });
  const back = new Set<string>();
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    const finish = () => {
      socket.close();
      resolve(order.hex.map((each) => back.has(each)));
    };
    const timer = setTimeout(finish, order.withinMs);
    socket.on('message', (data) => {
      back.add(data.toString('hex'));
      if (back.size < new Set(order.hex).size) return;
      clearTimeout(timer);
      finish();
    });
    socket.bind(order.from ?? 0, () => {
      for (const each of order.hex) socket.send(Buffer.from(each, 'hex'), order.port, order.host);
    });
  });
}

function within<T>(work: Promise<T>, ms: number, late = () => {}): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late();
      reject(new Error(`not within ${ms} ms`));
    }, ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}

if (import.meta.main) {
  createInterface(process.stdin)
    .on('line', (line) => {
      const { id, order } = JSON.parse(line) as { id: number; order: Order };
      obey(order).then(
        (value) => console.log(JSON.stringify({ id, value })),
        (error: Error) => console.log(JSON.stringify({ id, error: error.message })),
      );
    })
    .on('close', () => process.exit(0));
}
