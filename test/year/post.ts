import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export interface Letter {
  /** Message-ID. */
  id: string;
  to: string;
  subject: string;
  /** Links in it that hold a token, by the page that they lead to. */
  tokens: Record<string, string>;
}

/** A mail server for everybody: what came for whom, how often each Message-ID came, and nothing while it is away. */
export interface Post {
  url: string;
  letters: Letter[];
  /** How often each Message-ID came. */
  times: Map<string, number>;
  /** Letters that nobody has taken out of this box yet. */
  take(address: string): Letter[];
  close(): Promise<void>;
}

export async function openPost(): Promise<Post> {
  const boxes = new Map<string, Letter[]>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      text(stream).then((raw) => {
        for (const { address } of session.envelope.rcptTo) {
          const letter = { ...read(raw), to: address };
          post.letters.push(letter);
          post.times.set(letter.id, (post.times.get(letter.id) ?? 0) + 1);
          const box = boxes.get(address);
          if (box === undefined) boxes.set(address, [letter]);
          else box.push(letter);
        }
        done();
      }, done);
    },
  });
  server.on('error', () => undefined); // connections of a product that was killed
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const post: Post = {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    letters: [],
    times: new Map(),
    take: (address) => {
      const box = boxes.get(address) ?? [];
      boxes.delete(address);
      return box;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return post;
}

function read(raw: string): Omit<Letter, 'to'> {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ');
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
  // Quoted-printable, as far as links need it.
  const body = raw.slice(end).replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const tokens: Record<string, string> = {};
  for (const [, page = '', token = ''] of body.matchAll(/\/([\w-]+(?:\/[\w-]+)*)\?token=([\w-]+)/g))
    tokens[page] ??= token;
  return { id: field('message-id'), subject: field('subject'), tokens };
}
