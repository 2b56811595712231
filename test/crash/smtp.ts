import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** A mail server that keeps what it is given. */
export interface MailPeer {
  url: string;
  /** How often each Message-ID arrived. */
  received: Map<string, number>;
  messages: string[];
  close(): Promise<void>;
}

export async function startMailPeer(): Promise<MailPeer> {
  const received = new Map<string, number>();
  const messages: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? '' }),
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, _session, done) {
      text(stream).then((message) => {
        const id = /^message-id:\s*(\S+)/im.exec(message)?.[1] ?? '';
        received.set(id, (received.get(id) ?? 0) + 1);
        messages.push(message);
        done();
      }, done);
    },
  });
  server.on('error', () => undefined); // connections of a product that was killed
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    messages,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
