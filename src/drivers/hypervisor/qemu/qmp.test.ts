import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectQmp, type QmpEvent } from './qmp.ts';

const folder = mkdtempSync(join(tmpdir(), 'innkeeper-qmp-'));
/** Each test's own, since who was hung up on is left alone for a while. */
let path: string;
let tests = 0;
let server: Server;

/** A QEMU that somebody has taken over: it greets, and answers `trick` as it likes. */
function qemu(trick: (socket: Socket, id: number) => void): Promise<void> {
  server = createServer((socket) => {
    socket.on('error', () => undefined); // it is hung up on
    socket.write('{"QMP": {}}\n');
    socket.on('data', (text: Buffer) => {
      for (const line of text.toString().split('\n').filter(Boolean)) {
        const { execute, id } = JSON.parse(line);
        if (execute === 'trick') trick(socket, id);
        else socket.write(`${JSON.stringify({ return: {}, id })}\n`);
      }
    });
  });
  return new Promise((resolve) => server.listen(path, resolve));
}

beforeEach(() => {
  tests += 1;
  path = join(folder, `qmp${tests}`);
});
afterEach(() => new Promise((resolve) => server.close(resolve)));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a connection to a machine', () => {
  it.each(['not json', 'null', '1', '[]', '"x"', '{}', '{"id":"1","return":1}', '{"event":1}'])(
    'ends at the line %s, with what waits for an answer, and the product lives on',
    async (line) => {
      await qemu((socket) => socket.write(`${line}\n`));
      const qmp = await connectQmp(path);
      await expect(qmp.command('trick')).rejects.toThrow('QEMU closed the connection');
      await qmp.closed;
    },
  );

  it('ends at a line without end, of which little is kept', async () => {
    let sentBytes = 0;
    await qemu((socket) => {
      const stream = () => {
        if (socket.destroyed) return;
        sentBytes += 2 ** 20;
        socket.write(Buffer.alloc(2 ** 20, 'x'), (error) => error || setImmediate(stream));
      };
      stream();
    });
    const qmp = await connectQmp(path);
    await expect(qmp.command('trick')).rejects.toThrow('QEMU closed the connection');
    expect(sentBytes).toBeLessThan(32 * 2 ** 20);
  });

  it.each(['{"event":"X"}', '{"id":999,"return":{}}', ''])(
    'ends at a flood of %j that nobody asked for, before it costs the product its time',
    async (line) => {
      let sent = 0;
      const flood = `${line}\n`.repeat(2_000);
      await qemu((socket) => {
        const stream = () => {
          if (socket.destroyed || sent >= 1_000_000) return;
          sent += 2_000;
          socket.write(flood, (error) => error || setImmediate(stream));
        };
        stream();
      });
      let heard = 0;
      const qmp = await connectQmp(path, () => {
        heard += 1;
      });
      await expect(qmp.command('trick')).rejects.toThrow('QEMU closed the connection');
      expect(heard).toBeLessThan(20_000);
      expect(sent).toBeLessThan(1_000_000);
    },
  );

  /** An event that takes long to understand. */
  const line = (mib: number) => `{"event":"X","data":{"a":[${'{},'.repeat((mib * 2 ** 20) / 3)}{}]}}\n`;

  it('ends at a flood that begins when a second of the clock ends', async () => {
    await qemu((socket) => socket.write(line(0.9).repeat(6)));
    let heard = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (heard < 3 ? 10_999 : 11_001));
    try {
      const qmp = await connectQmp(path, () => {
        heard += 1;
      });
      await expect(qmp.command('trick')).rejects.toThrow('QEMU closed the connection');
      expect(heard).toBeLessThanOrEqual(4);
    } finally {
      clock.mockRestore();
    }
  });

  it('ends at lines that take long to understand, and is made again after growing pauses', async () => {
    let heard = 0;
    const began = performance.now();
    const floods = [line(2), line(0.9).repeat(40)];
    for (const [nth, flood] of floods.entries()) {
      path = join(folder, `costly${nth}`);
      await qemu((socket) => socket.write(flood));
      const qmp = await connectQmp(path, () => {
        heard += 1;
      });
      await expect(qmp.command('trick')).rejects.toThrow('QEMU closed the connection');
      await expect(connectQmp(path)).rejects.toThrow('it is asked again in 1 s');
      if (nth === 0) await new Promise((resolve) => server.close(resolve));
    }
    const seconds = (performance.now() - began) / 1_000;
    expect(heard).toBeLessThanOrEqual(5 + 5 * seconds);
    // Whoever goes on is left alone for longer.
    const again = await vi.waitFor(() => connectQmp(path), { timeout: 10_000, interval: 100 });
    await expect(again.command('trick')).rejects.toThrow('QEMU closed the connection');
    await expect(connectQmp(path)).rejects.toThrow('it is asked again in 2 s');
  });

  it('hears events whatever their data is, and refusals as plain text', async () => {
    const events: QmpEvent[] = [];
    await qemu((socket, id) => {
      socket.write('{"event":"SHUTDOWN","data":7}\n');
      socket.write(
        `${JSON.stringify({ id, error: { desc: `no\u0000\u001b[2J\n\ud800${'x'.repeat(9999)}` } })}\n`,
      );
    });
    const qmp = await connectQmp(path, (event) => events.push(event));
    const refusal: Error = await qmp.command('trick').then(
      () => new Error('it succeeded'),
      (error) => error,
    );
    expect(refusal.message).toMatch(/^no \[2J .x+$/);
    expect(refusal.message.length).toBeLessThanOrEqual(600);
    expect(events).toEqual([{ event: 'SHUTDOWN', data: {} }]);
    qmp.close();
  });
});
