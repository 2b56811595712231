import { connect, type Socket } from 'node:net';

/** An answer as it came, headers in lower case. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and a wrong one fails them
  body: any;
  text: string;
}

/**
 * Speaks HTTP by hand to a product: just these lines of a head, and what comes after it. Nothing tidies up what old clients send.
 * With `Expect: 100-continue` the body waits until the other side says so.
 */
export async function speak(url: string, head: readonly string[], body = ''): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const heard = listenTo(socket);
  socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  if (head.some((line) => /^expect:/i.test(line))) await heard.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  socket.write(body);
  return read(await heard.end);
}

/** A request of one line and these headers, with a body that is JSON if there is one. */
export function ask(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<Answer> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const sent = {
    host: 'x',
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }),
    ...headers,
  };
  return speak(
    url,
    [`${method} /api${path} HTTP/1.1`, ...Object.entries(sent).map(([name, value]) => `${name}: ${value}`)],
    text,
  );
}

function listenTo(socket: Socket) {
  let all = Buffer.alloc(0);
  let look = () => {};
  socket.on('data', (data) => {
    all = Buffer.concat([all, data]);
    look();
  });
  const end = new Promise<Buffer>((resolve, reject) => {
    socket.once('close', () => resolve(all)).once('error', reject);
  });
  const until = (text: RegExp) =>
    new Promise<void>((resolve, reject) => {
      look = () => {
        if (!text.test(all.toString('latin1'))) return;
        all = Buffer.alloc(0);
        resolve();
      };
      socket.once('close', () => reject(new Error(`closed after ${all.toString('latin1')}`)));
    });
  return { end, until };
}

function read(all: Buffer): Answer {
  const at = all.indexOf('\r\n\r\n');
  const [first = '', ...lines] = all.subarray(0, at).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const rest = all.subarray(at + 4);
  const bytes = headers['transfer-encoding'] === 'chunked' ? unchunked(rest) : rest;
  const text = bytes.toString();
  const isText = headers['content-encoding'] === undefined && text !== '';
  return { status: Number(first.split(' ')[1]), headers, text, body: isText ? JSON.parse(text) : null };
}

function unchunked(rest: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = rest.indexOf('\r\n', at);
    const length = Number.parseInt(rest.subarray(at, end).toString('latin1'), 16);
    if (!(length > 0)) return Buffer.concat(parts);
    parts.push(rest.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}
