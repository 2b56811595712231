import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Agent, withAgent } from './agent.ts';
import type { MachineFiles } from './files.ts';
import { setHostname, setPassword } from './guest.ts';
import type { Monitor } from './monitor.ts';

const dir = mkdtempSync(join(tmpdir(), 'innkeeper-agent-'));
const files = { id: 'vps-1', agentSocket: join(dir, 'agent') } as MachineFiles;
const monitor = { command: async () => [{ label: 'agent0', 'frontend-open': true }] } as unknown as Monitor;
let server: Server;
let sentBytes = 0;

/** A guest of which we know nothing but that it is at the other end. */
function guest(answer: (socket: Socket, command: { execute: string; arguments: { id?: number } }) => void) {
  sentBytes = 0;
  server = createServer((socket) => {
    socket.on('error', () => undefined); // it is hung up on
    socket.on('data', (text: Buffer) => {
      for (const line of text.toString('latin1').replaceAll('\xff', '').split('\n').filter(Boolean))
        answer(socket, JSON.parse(line));
    });
  });
  return new Promise<void>((resolve) => server.listen(files.agentSocket, resolve));
}

function stream(socket: Socket, chunk: Buffer): void {
  if (socket.destroyed) return;
  sentBytes += chunk.length;
  socket.write(chunk, (error) => error || setImmediate(stream, socket, chunk));
}

const greets = (socket: Socket, id: number | undefined) =>
  socket.write(Buffer.from(`\xff${JSON.stringify({ return: id })}\n`, 'latin1'));

const ask = (agent: Agent) => agent.command('guest-ping', {}, 3_000);

afterEach(() => new Promise((resolve) => server.close(resolve)));
afterEach(() => rmSync(files.agentSocket, { force: true }));

describe('a conversation with a guest', () => {
  it('ends with one that greets without end, and holds up nothing else meanwhile', async () => {
    await guest((socket) => stream(socket, Buffer.from('\xffx\n'.repeat(20_000), 'latin1')));
    let longestMs = 0;
    let last = Date.now();
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, Date.now() - last);
      last = Date.now();
    }, 10);
    await expect(withAgent(files, monitor, 3_000, ask)).rejects.toThrow('what it was not asked');
    clearInterval(beat);
    expect(longestMs).toBeLessThan(2_000);
  });

  it('takes answers in pieces and several at once, after what was left of another conversation', async () => {
    await guest((socket, { execute, arguments: { id } }) => {
      if (execute === 'guest-sync-delimited') {
        socket.write('null\nleft of another"}\n');
        return greets(socket, id);
      }
      const answer = Buffer.from('{"return":"grüße"}\n{"return":2}\n');
      for (const byte of answer) socket.write(Buffer.of(byte));
    });
    const answers = await withAgent(files, monitor, 3_000, async (agent) => [
      await ask(agent),
      await ask(agent),
    ]);
    expect(answers).toEqual(['grüße', 2]);
  });

  it('carries an answer of almost a mebibyte', async () => {
    const long = 'x'.repeat(2 ** 20 - 100);
    await guest((socket, { execute, arguments: { id } }) => {
      if (execute === 'guest-sync-delimited') greets(socket, id);
      else socket.write(`${JSON.stringify({ return: long })}\n`);
    });
    const answer = await withAgent(files, monitor, 3_000, async (agent) => {
      for (let nth = 0; nth < 3; nth++) await ask(agent);
      return ask(agent);
    });
    expect(answer === long).toBe(true);
  });

  it.each(['guest-sync-delimited', 'guest-ping'])(
    'ends when the answer to %s does not: little is read, and the guest is at fault',
    async (endless) => {
      await guest((socket, { execute, arguments: { id } }) => {
        if (execute === endless) stream(socket, Buffer.alloc(64 * 1024, 'x'));
        else greets(socket, id);
      });
      const refusal = { code: 'guest_refused', permanent: false };
      await expect(withAgent(files, monitor, 3_000, ask)).rejects.toMatchObject(refusal);
      expect(sentBytes).toBeLessThan(4 * 2 ** 20);
    },
  );
});

describe('what a guest says', () => {
  const answering = (answers: Record<string, unknown>) =>
    guest((socket, { execute, arguments: { id } }) => {
      if (execute === 'guest-sync-delimited') greets(socket, id);
      else socket.write(`${JSON.stringify(answers[execute])}\n`);
    });
  const inGuest = (work: (agent: Agent) => Promise<void>) => withAgent(files, monitor, 3_000, work);
  const hostile = `no\u0000\u001b]0;\u202e\ud800\r\n${'x'.repeat(100_000)}`;
  const isPlain = (error: Error) =>
    error.message.length < 1_000 && error.message.isWellFormed() && !/[\p{Cc}\p{Cf}]/u.test(error.message);

  it('is plain and short text when its agent refuses', async () => {
    await answering({ 'guest-set-user-password': { error: { class: hostile, desc: hostile } } });
    const refusal = expect.objectContaining({ code: 'guest_refused' });
    const failure = inGuest((agent) => setPassword(agent, '$6$x$y'));
    await expect(failure).rejects.toEqual(refusal);
    expect(isPlain(await failure.catch((error) => error))).toBe(true);
  });

  it('is plain and short text when a program fails there', async () => {
    const status = { exited: true, exitcode: 1, 'err-data': Buffer.from(hostile).toString('base64') };
    await answering({ 'guest-exec': { return: { pid: 7 } }, 'guest-exec-status': { return: status } });
    const failure = inGuest((agent) => setHostname(agent, 'name'));
    await expect(failure).rejects.toMatchObject({ code: 'guest_refused' });
    expect(isPlain(await failure.catch((error) => error))).toBe(true);
  });

  it.each([null, 'x', { pid: -1 }, { pid: 'all' }, []])(
    'is a refusal when it names no program that it has started: %j',
    async (answer) => {
      await answering({ 'guest-exec': { return: answer } });
      const failure = inGuest((agent) => setHostname(agent, 'name'));
      await expect(failure).rejects.toMatchObject({ code: 'guest_refused' });
    },
  );
});
