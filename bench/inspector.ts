import { WebSocket } from 'ws';

/** Asks the inspector of a process; `close` lets go of it. */
export type Ask = (method: string, params?: object) => Promise<unknown>;

/** Opens the inspector of a Node process of this machine that has not been told to have one. */
export async function openInspector(pid: number): Promise<Ask> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await inspectorUrl());
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  let last = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.on('message', (bytes) => {
    const message = JSON.parse(String(bytes)) as { id?: number; result?: unknown };
    if (message.id !== undefined) waiting.get(message.id)?.(message.result);
  });
  return (method, params = {}) => {
    if (method === 'close') return Promise.resolve(socket.close());
    last += 1;
    socket.send(JSON.stringify({ id: last, method, params }));
    return new Promise((resolve) => waiting.set(last, resolve));
  };
}

async function inspectorUrl(): Promise<string> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await fetch('http://127.0.0.1:9229/json/list');
      const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[];
      if (target) return target.webSocketDebuggerUrl;
    } catch (error) {
      if (attempt >= 40) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
