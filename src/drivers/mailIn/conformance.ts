import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { IncomingMail, MailIn, Receiver, Receiving } from './contract.ts';

/** The other side: it has mails, and goes on bringing or keeping each until it hears that it was taken. */
export interface MailInWorld {
  /** Has a mail for us from now on. */
  deliver(mail: { from: string; to: string; raw: Buffer }): Promise<void>;
  /** How many mails it still has for us. */
  waiting(): Promise<number>;
  /** What it turned away for good since it was asked last. */
  refused(): Promise<number>;
  /** The power goes, and comes again; null where there is nothing to go to. */
  outage: { begin(): Promise<void>; end(): Promise<void> } | null;
}

export interface MailInUnderTest {
  mailIn: MailIn;
  world: MailInWorld;
  /** What this engine takes at most here, in bytes. */
  sizeAtMost: number;
  close(): Promise<void>;
}

interface Came extends Omit<IncomingMail, 'content'> {
  bytes: Buffer;
}

/** What every driver must do; `skip` is the reason why this host cannot run the suite, or null. */
export function describeMailIn(
  name: string,
  make: () => Promise<MailInUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} keeps the contract of mails that come in`, () => {
    let test: MailInUnderTest;
    let receiving: Receiving | null = null;
    let came: Came[] = [];
    let stood: (string | null)[] = [];
    let taking: (mail: Came) => Promise<void> = async () => undefined;
    const receiver: Receiver = {
      accepts: (address) => address.endsWith('@in.inn.example'),
      take: async ({ content, ...rest }) => {
        const mail = { ...rest, bytes: await buffer(content) };
        await taking(mail);
        came.push(mail);
      },
      stands: (problem) => stood.push(problem),
    };
    const start = async () => {
      receiving = await test.mailIn.receive(receiver);
    };
    const stop = async () => {
      await receiving?.stop();
      receiving = null;
    };
    beforeAll(async () => {
      test = await make();
    });
    beforeEach(async () => {
      [came, stood, taking] = [[], [], async () => undefined];
      if (receiving === null) await start();
      await test.world.refused();
    });
    afterAll(async () => {
      await stop();
      await test?.close();
    });

    const patience = { timeout: 30_000, interval: 50 };
    const mail = (words: string, body = 'Hello.\r\n') =>
      Buffer.from(`From: ana@example.com\r\nTo: a@in.inn.example\r\nSubject: ${words}\r\n\r\n${body}`);
    const deliver = (raw: Buffer, to = 'answers+a1@in.inn.example') =>
      test.world.deliver({ from: 'ana@example.com', to, raw });
    const subjects = () => came.map(({ bytes }) => /Subject: (.*)\r\n/.exec(bytes.toString('latin1'))?.[1]);
    const isDone = () => expect.poll(() => test.world.waiting(), patience).toBe(0);

    it('brings a mail as it is, bit by bit, and is rid of it then', async () => {
      const odd = `.\r\n..\r\nFrom here\r\n\tTab\r\n${'\u00e9\u{1f98a}'.repeat(50)}\r\n\r\n\r\n`;
      const raw = mail('odd', odd);
      await deliver(raw);
      await expect.poll(() => came.length, patience).toBe(1);
      // Whoever carries it may write lines of their own above it, and nothing else.
      expect(came[0]?.bytes.subarray(-raw.length).toString('latin1')).toBe(raw.toString('latin1'));
      expect(came[0]).toMatchObject({ isCut: false });
      await isDone();
    });

    it('brings a large one whole', async () => {
      const line = `${'x'.repeat(70)}\r\n`;
      const raw = mail('large', line.repeat(Math.floor((test.sizeAtMost * 0.8) / line.length)));
      await deliver(raw);
      await expect.poll(() => came.length, patience).toBe(1);
      const digest = (bytes: Buffer | undefined) =>
        createHash('sha256')
          .update(bytes?.subarray(-raw.length) ?? '')
          .digest('hex');
      expect(digest(came[0]?.bytes)).toBe(digest(raw));
    });

    it('says for whom a mail is and who brings it, where it knows', async () => {
      await deliver(mail('for whom'));
      await expect.poll(() => came.length, patience).toBe(1);
      const [{ returnPath, recipients, client } = {}] = came;
      if (test.mailIn.capabilities.includes('judges')) {
        expect({ returnPath, recipients }).toEqual({
          ...{ returnPath: 'ana@example.com', recipients: ['answers+a1@in.inn.example'] },
        });
        expect(client?.ip).toMatch(/127\.0\.0\.1/);
      } else
        expect({ returnPath, recipients, client }).toEqual({
          returnPath: null,
          recipients: [],
          client: null,
        });
    });

    it('brings many, each once', async () => {
      const all = Array.from({ length: 15 }, (_, nth) => `many-${nth}`);
      for (const words of all) await deliver(mail(words));
      await expect.poll(() => came.length, patience).toBe(all.length);
      await isDone();
      expect(subjects().toSorted()).toEqual(all.toSorted());
    });

    it('brings one again that could not be kept, and those behind it meanwhile', async () => {
      let failures = 0;
      taking = async ({ bytes }) => {
        if (!bytes.includes('Subject: stubborn') || failures === 2) return;
        failures += 1;
        throw new Error('the disk is full');
      };
      await deliver(mail('stubborn'));
      await deliver(mail('behind'));
      await expect.poll(subjects, patience).toEqual(expect.arrayContaining(['behind', 'stubborn']));
      expect([failures, subjects().filter((each) => each === 'stubborn').length]).toEqual([2, 1]);
      await isDone();
    });

    it('leaves what it is not told to have kept where it is', async () => {
      taking = () => Promise.reject(new Error('never'));
      await deliver(mail('kept there'));
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect([await test.world.waiting(), came.length]).toEqual([1, 0]);
      taking = async () => undefined;
      await expect.poll(subjects, patience).toEqual(['kept there']);
      await isDone();
    });

    it('takes nothing that is over the limit, and goes on', async () => {
      await deliver(
        mail('too large', `${'y'.repeat(70)}\r\n`.repeat(Math.ceil((test.sizeAtMost * 1.2) / 72))),
      );
      await deliver(mail('after it'));
      await expect.poll(subjects, patience).toContain('after it');
      await isDone();
      const over = came.find(({ bytes }) => bytes.includes('Subject: too large'));
      if (over === undefined) expect(await test.world.refused()).toBe(1);
      else {
        expect(over.isCut).toBe(true);
        expect(over.bytes.length).toBeLessThan(1_000);
      }
    });

    it('takes nothing that is for others, where it is asked', async () => {
      if (!test.mailIn.capabilities.includes('judges')) return;
      await deliver(mail('relay me'), 'victim@elsewhere.example');
      await expect.poll(() => test.world.refused(), patience).toBe(1);
      expect(came).toEqual([]);
    });

    it('goes on after it was stopped, with what came meanwhile', async () => {
      await deliver(mail('before'));
      await expect.poll(subjects, patience).toEqual(['before']);
      await isDone();
      await stop();
      await deliver(mail('meanwhile'));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(subjects()).toEqual(['before']);
      await start();
      await expect.poll(subjects, patience).toEqual(['before', 'meanwhile']);
      await isDone();
    });

    it('ends what is under way when it is stopped', async () => {
      let isBegun = false;
      taking = async () => {
        isBegun = true;
        await new Promise((resolve) => setTimeout(resolve, 500));
      };
      await deliver(mail('under way'));
      await expect.poll(() => isBegun, patience).toBe(true);
      await stop();
      expect(subjects()).toEqual(['under way']);
    });

    it('says when the other side is gone, and when it is there again', async () => {
      const { outage } = test.world;
      if (outage === null) return;
      await outage.begin();
      await expect.poll(() => stood.some((problem) => problem !== null), patience).toBe(true);
      expect(JSON.stringify(stood)).not.toContain('secret');
      await outage.end();
      await deliver(mail('again there'));
      await expect.poll(subjects, patience).toContain('again there');
      await expect.poll(() => stood.at(-1), patience).toBe(null);
    });
  });
}
