import { Readable } from 'node:stream';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dovecot, startDovecot, withoutMailServers } from '../../../test/mailServers.ts';
import { describeMailIn } from './conformance.ts';
import { mailbox, type Receiving } from './index.ts';
import { takeAll } from './mailbox.ts';

const sizeAtMost = 400_000;
const address = 'answers@in.inn.example';

describeMailIn(
  'a mailbox at Dovecot',
  async () => {
    const dovecot = await startDovecot();
    const client = () => {
      const { hostname: host, port, username, password } = new URL(dovecot.urlOf(address));
      const auth = { user: decodeURIComponent(username), pass: password };
      return new ImapFlow({ host, port: Number(port), secure: false, auth, logger: false });
    };
    const within = async <T>(work: (opened: ImapFlow) => Promise<T>): Promise<T> => {
      const opened = client();
      opened.on('error', () => undefined);
      await opened.connect();
      try {
        return await work(opened);
      } finally {
        await opened.logout();
      }
    };
    return {
      mailIn: mailbox({
        url: dovecot.urlOf(address),
        doneFolder: 'Done',
        sizeAtMost,
        pollMs: 500,
        againMs: 100,
      }),
      world: {
        deliver: ({ raw }) => within(async (opened) => void (await opened.append('INBOX', raw))),
        waiting: () =>
          within(async (opened) => {
            const status = await opened.status('INBOX', { messages: true });
            return status === false ? 0 : (status.messages ?? 0);
          }),
        refused: async () => 0,
        outage: { begin: () => dovecot.stop(), end: () => dovecot.start() },
      },
      sizeAtMost,
      close: () => dovecot.close(),
    };
  },
  withoutMailServers,
);

describe('one look into a mailbox', () => {
  type Connection = Parameters<typeof takeAll>[0];
  const look = async (bent: Partial<Record<keyof Connection, unknown>>, kept = new Set<string>()) => {
    const taken: string[] = [];
    const client = {
      usable: true,
      mailbox: { uidValidity: 7n },
      search: async () => [1, 2, 3],
      fetchOne: async () => ({ size: 10 }),
      download: async (uid: string) => ({ content: Readable.from([Buffer.from(uid)]) }),
      messageMove: async () => ({}),
      ...bent,
    } as unknown as Connection;
    const problem = await takeAll(
      client,
      { doneFolder: 'Done' },
      {
        ...{ accepts: () => true, stands: () => undefined },
        take: async ({ content }) => {
          for await (const chunk of content) taken.push(String(chunk));
        },
      },
      new AbortController().signal,
      kept,
    );
    return { taken, problem };
  };
  const failing = (at: string) => async (uid: string) => {
    if (uid === at) throw new Error('no such part');
    return { size: 10, content: Readable.from([Buffer.from(uid)]) };
  };

  it('takes those behind one that cannot be fetched, and says so', async () => {
    const expected = { taken: ['2', '3'], problem: 'a mail could not be taken: no such part' };
    expect(await look({ download: failing('1') })).toEqual(expected);
    expect(await look({ fetchOne: failing('1') })).toEqual(expected);
  });

  it('fetches one that was taken and cannot be moved away no second time, and moves it once that can be', async () => {
    const [kept, moved] = [new Set<string>(), [] as string[]];
    const messageMove = async (uid: string) => {
      if (uid === '2' && moved.length < 4) throw new Error('over quota');
      return moved.push(uid) > 0;
    };
    const first = await look({ messageMove }, kept);
    expect(first).toEqual({ taken: ['1', '2', '3'], problem: 'a mail could not be taken: over quota' });
    const search = async () => [2, 4, 5];
    expect((await look({ search, messageMove }, kept)).taken).toEqual(['4', '5']);
    expect(await look({ search: async () => [2], messageMove }, kept)).toEqual({ taken: [], problem: null });
    expect([moved, kept.size]).toEqual([['1', '3', '4', '5', '2'], 0]);
    // Numbers of a mailbox that was made anew say nothing of those before.
    kept.add('6 2');
    expect((await look({ search: async () => [2] }, kept)).taken).toEqual(['2']);
  });

  it('ends with the connection', async () => {
    await expect(look({ usable: false, download: failing('1') })).rejects.toThrow('no such part');
  });

  it('says that nothing can be searched for, or moved away', async () => {
    expect(await look({ search: async () => false })).toEqual({
      ...{ taken: [], problem: 'the mailbox cannot be searched' },
    });
    const { taken, problem } = await look({ messageMove: async () => false });
    expect([taken, problem]).toEqual([['1', '2', '3'], expect.stringContaining('cannot be moved to Done')]);
  });
});

describe.skipIf(withoutMailServers !== null)('a mailbox', () => {
  let dovecot: Dovecot;
  beforeAll(async () => {
    dovecot = await startDovecot();
  });
  afterAll(() => dovecot.close());

  it('hears of a mail at once, without asking', async () => {
    const came: number[] = [];
    const mailIn = mailbox({
      url: dovecot.urlOf('idle@in.inn.example'),
      doneFolder: 'Done',
      pollMs: 600_000,
    });
    const receiving: Receiving = await mailIn.receive({
      accepts: () => true,
      take: async ({ content }) => {
        for await (const _ of content);
        came.push(Date.now());
      },
      stands: () => undefined,
    });
    try {
      const opened = new ImapFlow({
        ...{ host: '127.0.0.1', port: dovecot.imapPort, secure: false, logger: false },
        auth: { user: 'idle@in.inn.example', pass: 'secret' },
      });
      await opened.connect();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await opened.append('INBOX', Buffer.from('Subject: x\r\n\r\nx\r\n'));
      await expect.poll(() => came.length, { timeout: 20_000 }).toBe(1);
      await opened.logout();
    } finally {
      await receiving.stop();
    }
  });

  it('says that its password is wrong, without saying the password', async () => {
    const stood: (string | null)[] = [];
    const url = dovecot.urlOf(address).replace(':secret@', ':hidden-word@');
    const receiving = await mailbox({ url, doneFolder: 'Done', againMs: 100 }).receive({
      ...{ accepts: () => true, take: async () => undefined, stands: (problem) => void stood.push(problem) },
    });
    try {
      await expect.poll(() => stood.length, { timeout: 20_000 }).toBeGreaterThan(0);
      expect(stood[0]).toContain('does not let us in');
      expect(JSON.stringify(stood)).not.toContain('hidden-word');
    } finally {
      await receiving.stop();
    }
  });
});
