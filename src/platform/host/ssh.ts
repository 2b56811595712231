import { createConnection } from 'node:net';

const attemptTimeoutMs = 1_000;

/** Whether what answers at port 22 of an address says `SSH-` first, as RFC 4253 4.2 wants it; an open port alone says little. */
export function greetsBySsh(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: address, port: 22 });
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(attemptTimeoutMs, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.once('data', (data) => finish(data.toString('latin1').startsWith('SSH-')));
  });
}
