import { type AddressInfo, BlockList, isIPv6, type Socket } from 'node:net';
import { finished, PassThrough, Transform } from 'node:stream';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { type MailIn, MailInError, mailSizeAtMost, type Receiver } from './contract.ts';
import { judgeApart, type Names } from './judgeApart.ts';

export interface ListenerOptions {
  /** LMTP (RFC 2033) is what a mail server of ours hands mails over by; SMTP (RFC 5321) is what the world speaks. */
  protocol: 'smtp' | 'lmtp';
  host: string;
  /** 0: any that is free; see `listening`. */
  port: number;
  /** What it calls itself. */
  name: string;
  /** With it STARTTLS is offered; PEM. */
  tls?: { key: string; cert: string };
  /** Addresses and networks that may bring mails; empty: everybody. */
  from?: readonly string[];
  /** Instead of the domain name system; for tests. */
  names?: Names;
  /** How long the other side may say nothing. */
  timeoutMs?: number;
  sizeAtMost?: number;
  /** Connections at once, in all and from one address. */
  connectionsAtMost?: number;
  connectionsPerAddress?: number;
  listening?: (port: number) => void;
}

const recipientsAtMost = 50;

/** Mails that others bring. It takes what is for our address and relays nothing. */
export function mailListener(options: ListenerOptions): MailIn {
  return {
    kind: options.protocol,
    capabilities: ['judges'],
    receive: (receiver) => listen(options, receiver),
    // By LMTP a server of ours brings them, whatever the domain's servers are.
    judge: (mail) => judgeApart(mail, { names: options.names, bySpf: options.protocol === 'smtp' }),
  };
}

async function listen(options: ListenerOptions, receiver: Receiver) {
  const { protocol, host, port, name, tls, timeoutMs = 60_000, sizeAtMost = mailSizeAtMost } = options;
  const { connectionsAtMost = 100, connectionsPerAddress = 20 } = options;
  const mayBring = peersIn(options.from ?? []);
  const counted = new Set<string>();
  const perAddress = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const server = new SMTPServer({
    ...{ name, banner: 'ready', lmtp: protocol === 'lmtp', size: sizeAtMost, authOptional: true },
    ...{ maxClients: connectionsAtMost, socketTimeout: timeoutMs, closeTimeout: 5_000 },
    // Nobody signs in here, and nothing is relayed: what is not for us is refused.
    disabledCommands: tls === undefined ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    ...(tls === undefined ? {} : { key: tls.key, cert: tls.cert }),
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    onConnect: ({ id, remoteAddress }, callback) => {
      if (!mayBring(remoteAddress)) return callback(refusal(554, '5.7.1 You bring no mails here'));
      const open = perAddress.get(remoteAddress) ?? 0;
      if (open >= connectionsPerAddress) return callback(refusal(421, '4.7.0 Too many connections from you'));
      perAddress.set(remoteAddress, open + 1);
      counted.add(id);
      callback();
    },
    onClose: ({ id, remoteAddress }) => {
      if (!counted.delete(id)) return; // it was refused
      const open = (perAddress.get(remoteAddress) ?? 1) - 1;
      if (open > 0) perAddress.set(remoteAddress, open);
      else perAddress.delete(remoteAddress);
    },
    onRcptTo: ({ address }, session, callback) => {
      if (!receiver.accepts(address)) return callback(refusal(550, '5.1.1 There is no such address here'));
      if (session.envelope.rcptTo.length >= recipientsAtMost)
        return callback(refusal(452, '4.5.3 Too many recipients'));
      callback();
    },
    onData: (stream, session, callback) => {
      const taking = take(receiver, stream, session, sizeAtMost).then(
        () => callback(null, 'OK, kept'),
        (error: unknown) => callback(asRefusal(error)),
      );
      underWay.add(taking);
      void taking.finally(() => underWay.delete(taking));
    },
  });
  const sockets = new Set<Socket>();
  server.on('error', () => undefined); // a connection that breaks off
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  options.listening?.((server.server.address() as AddressInfo).port);
  receiver.stands(null);
  return {
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.allSettled(underWay);
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function take(
  receiver: Receiver,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  sizeAtMost: number,
): Promise<void> {
  const { mailFrom, rcptTo } = session.envelope;
  const content = stream.pipe(upTo(sizeAtMost));
  stream.once('error', (error) => content.destroy(error));
  stream.once('close', () => {
    if (!stream.readableEnded)
      content.destroy(new MailInError('mail_broken_off', 'the connection broke off'));
  });
  try {
    await receiver.take({
      content,
      returnPath: mailFrom === false ? '' : mailFrom.address,
      recipients: rcptTo.map(({ address }) => address),
      client: { ip: session.remoteAddress, name: session.hostNameAppearsAs || session.remoteAddress },
      isCut: false,
    });
  } catch (error) {
    // The rest has to be read before an answer is heard.
    stream.unpipe(content);
    const rest = new PassThrough();
    rest.resume();
    stream.pipe(rest);
    await new Promise<void>((resolve) => {
      if (stream.readableEnded || stream.destroyed) resolve();
      else finished(stream, { writable: false }, () => resolve());
    });
    throw content.errored ?? error;
  }
}

function upTo(sizeAtMost: number): Transform {
  let size = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, callback) => {
      size += chunk.length;
      if (size <= sizeAtMost) return callback(null, chunk);
      callback(new MailInError('mail_too_large', 'The mail is too large', { permanent: true }));
    },
  });
}

function peersIn(from: readonly string[]): (address: string) => boolean {
  if (from.length === 0) return () => true;
  const list = new BlockList();
  for (const entry of from) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}

/** Only what is too large is refused for good; everything else is our own trouble, and the mail comes again. */
function asRefusal(error: unknown): Error {
  if (error instanceof MailInError && error.code === 'mail_too_large')
    return refusal(552, '5.3.4 The mail is too large');
  if (error instanceof MailInError && error.code === 'mails_full')
    return refusal(452, '4.3.1 As much came as may come in a day, try again later');
  return refusal(451, '4.3.0 The mail could not be kept, try again later');
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
