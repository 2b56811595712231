import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../mail/testbed.ts';
import { describeMailIn, type MailInWorld } from './conformance.ts';
import { mailListener, type Receiving } from './index.ts';

const sizeAtMost = 400_000;

/** A mail server that brings mails and tries again, as they do; with a thousandth of their patience. */
function sender(portOf: () => number, isLmtp: boolean): MailInWorld & { close(): void } {
  let queue: { from: string; to: string; raw: Buffer }[] = [];
  let refusals = 0;
  const halt = new AbortController();
  const run = async () => {
    while (!halt.signal.aborted) {
      for (const mail of [...queue]) {
        const transport = createTransport({
          ...{ host: '127.0.0.1', port: portOf(), lmtp: isLmtp, ignoreTLS: true, connectionTimeout: 2_000 },
        });
        const code = await transport
          .sendMail({ envelope: { from: mail.from, to: mail.to }, raw: mail.raw })
          // LMTP answers for each recipient.
          .then(
            ({ rejectedErrors = [] }) => (rejectedErrors.length === 0 ? 250 : codeOf(rejectedErrors[0])),
            codeOf,
          );
        if (code >= 500) refusals += 1;
        if (code < 400 || code >= 500) queue = queue.filter((each) => each !== mail);
        transport.close();
      }
      await pause(50);
    }
  };
  void run();
  return {
    deliver: async (mail) => {
      queue.push(mail);
    },
    waiting: async () => queue.length,
    refused: async () => {
      const since = refusals;
      refusals = 0;
      return since;
    },
    outage: null,
    close: () => halt.abort(),
  };
}

/** What a server said, or 421 when it said nothing; 552 when it was not even asked, for what it said before. */
function codeOf(error: unknown): number {
  const { responseCode = 421, message } = error as { responseCode?: number; message: string };
  return /larger than allowed/i.test(message) ? 552 : responseCode;
}

for (const protocol of ['smtp', 'lmtp'] as const) {
  describeMailIn(`a listener for ${protocol.toUpperCase()}`, async () => {
    let port = 0;
    const mailIn = mailListener({
      ...{ protocol, host: '127.0.0.1', port: 0, name: 'mx.inn.example', sizeAtMost },
      listening: (chosen) => {
        port = chosen;
      },
    });
    const world = sender(() => port, protocol === 'lmtp');
    return { mailIn, world, sizeAtMost, close: async () => world.close() };
  });
}

describe('a listener', () => {
  const tls = selfSigned('mx.inn.example');
  let port = 0;
  let receiving: Receiving;
  let taken: string[] = [];
  beforeAll(async () => {
    const mailIn = mailListener({
      ...{
        protocol: 'smtp',
        host: '127.0.0.1',
        port: 0,
        name: 'mx.inn.example',
        sizeAtMost,
        timeoutMs: 1_000,
      },
      ...{ connectionsPerAddress: 3, ...(tls === null ? {} : { tls }) },
      listening: (chosen) => {
        port = chosen;
      },
    });
    receiving = await mailIn.receive({
      accepts: (address) => address.endsWith('@in.inn.example'),
      take: async ({ content }) => {
        let text = '';
        for await (const chunk of content) text += chunk;
        taken.push(text);
      },
      stands: () => undefined,
    });
  });
  afterAll(() => receiving.stop());

  /** Says lines one after another, each after the answer to the one before, and returns all answers. */
  async function talk(...lines: string[]): Promise<string[]> {
    const socket = connect(port, '127.0.0.1');
    const answers: string[] = [];
    const next = () =>
      new Promise<string>((resolve) => {
        let text = '';
        const heard = (chunk: Buffer) => {
          text += chunk;
          if (!/^\d{3} .*\r\n$/m.test(text)) return;
          socket.off('data', heard);
          resolve(text);
        };
        socket.on('data', heard);
        socket.once('close', () => resolve(text || 'closed'));
        socket.once('error', () => resolve('closed'));
      });
    answers.push(await next());
    for (const line of lines) {
      const answer = next();
      socket.write(`${line}\r\n`);
      answers.push(await answer);
    }
    socket.destroy();
    return answers;
  }

  it('says what it takes at most, and refuses more at MAIL FROM', async () => {
    const [, hello, refused] = await talk(
      'EHLO x.example',
      `MAIL FROM:<a@example.com> SIZE=${sizeAtMost + 1}`,
    );
    expect(hello).toContain(`SIZE ${sizeAtMost}`);
    expect(refused).toMatch(/^552/);
  });

  it('lets nobody sign in, and relays for nobody', async () => {
    const [, hello, auth] = await talk('EHLO x.example', 'AUTH PLAIN AGEAYg==');
    expect(hello).not.toContain('AUTH');
    expect(auth).toMatch(/^5/);
    const [, , , first, second, third] = await talk(
      ...['EHLO x.example', 'MAIL FROM:<a@in.inn.example>', 'RCPT TO:<b@elsewhere.example>'],
      ...['RCPT TO:<"b@elsewhere.example"@in.inn.example.evil.example>', 'RCPT TO:<answers@in.inn.example>'],
    );
    expect([first, second, third].map((answer) => answer?.slice(0, 3))).toEqual(['550', '501', '250']);
  });

  it('takes nothing of a mail that breaks off, nor of one that is smuggled in by a bare line feed', async () => {
    taken = [];
    const socket = connect(port, '127.0.0.1');
    socket.write('EHLO x\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<a@in.inn.example>\r\nDATA\r\n');
    await pause(200);
    socket.write('Subject: half\r\n\r\nThis is');
    await pause(100);
    socket.destroy();
    await pause(300);
    expect(taken).toEqual([]);
    const smuggled =
      'Subject: one\r\n\r\nx\n.\nMAIL FROM:<b@example.com>\nRCPT TO:<a@in.inn.example>\nDATA\nSubject: two\n\nx\r\n.';
    const said = await talk(
      'EHLO x',
      'MAIL FROM:<a@example.com>',
      'RCPT TO:<a@in.inn.example>',
      'DATA',
      smuggled,
    );
    expect(said.at(-1)).toMatch(/^[25]/);
    expect(taken.length).toBeLessThanOrEqual(1);
  });

  it('has few connections of one address open, and none that says nothing', async () => {
    const open = Array.from({ length: 3 }, () => connect(port, '127.0.0.1'));
    await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('data', resolve))));
    const [refused] = await talk();
    expect(refused).toMatch(/^421/);
    await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    const [greeting] = await talk();
    expect(greeting).toMatch(/^220/);
  });

  it('counts no connection that it refused', async () => {
    const open = Array.from({ length: 3 }, () => connect(port, '127.0.0.1'));
    await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('data', resolve))));
    for (let nth = 0; nth < 3; nth += 1) {
      const [refused] = await talk();
      expect(refused).toMatch(/^421/);
    }
    for (const socket of open) socket.destroy();
    await expect.poll(async () => (await talk())[0]).toMatch(/^220/);
  });

  it('takes nothing of those who may bring none', async () => {
    for (const [from, greeting] of [
      [['192.0.2.0/24', '2001:db8::/32'], /^554/],
      [['192.0.2.1', '127.0.0.0/8'], /^220/],
    ] as const) {
      let chosen = 0;
      const choosy = await mailListener({
        ...{ protocol: 'lmtp', host: '127.0.0.1', port: 0, name: 'mx.inn.example', from },
        listening: (free) => {
          chosen = free;
        },
      }).receive({ accepts: () => true, take: async () => undefined, stands: () => undefined });
      const socket = connect(chosen, '127.0.0.1');
      const said = await new Promise<string>((resolve) =>
        socket.once('data', (chunk) => resolve(String(chunk))),
      );
      socket.destroy();
      await choosy.stop();
      expect(said).toMatch(greeting);
    }
  });

  it.skipIf(tls === null)('offers STARTTLS with its certificate', async () => {
    taken = [];
    const transport = createTransport({
      ...{ host: '127.0.0.1', port, requireTLS: true },
      tls: { ca: tls?.cert ?? '', servername: 'mx.inn.example' },
    });
    const raw = 'Subject: sealed\r\n\r\nx\r\n';
    await transport.sendMail({ envelope: { from: 'a@example.com', to: 'a@in.inn.example' }, raw });
    transport.close();
    expect(taken).toEqual([raw]);
  });
});
