import type { Duplex } from 'node:stream';

/** A request for an upgrade that is not granted. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

export function refuse(socket: Duplex, refusal: Refusal): void {
  socket.once('finish', () => socket.destroy()); // nobody else would, if the other side never ends it
  socket.end(
    `HTTP/1.1 ${refusal.status} ${refusal.message}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}
