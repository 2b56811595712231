import type { Server, Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';

const opened = new WeakMap<Socket, Date>();

/** Notes of each connection of a server since when it has been open. */
export function noteConnections(server: Server, clock: Clock): void {
  server.on('connection', (socket) => opened.set(socket, clock.now()));
}

/** Since when the connection has been open that a request came over. */
export function connectedAt({ raw }: FastifyRequest, clock: Clock): Date {
  const known = opened.get(raw.socket);
  if (known !== undefined) return known;
  // One that was taken by another server than the first, as where the host has two addresses: since its first request.
  const now = clock.now();
  opened.set(raw.socket, now);
  return now;
}
