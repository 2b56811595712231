import type { WebSocket } from 'ws';

/** So many in a row, and the other side counts as gone: one may be stuck behind a screenful on a slow line. */
const pingsUnanswered = 2;

/** Cuts a socket whose other side says nothing any more, as when its host has lost its power. */
export function hangUpOnSilence(socket: WebSocket, pingEveryMs: number): void {
  let unanswered = 0;
  const heard = () => {
    unanswered = 0;
  };
  const timer = setInterval(() => {
    if (socket.isPaused) heard(); // its answer waits behind what has yet to be read
    if (unanswered === pingsUnanswered) return socket.terminate();
    unanswered += 1;
    socket.ping();
  }, pingEveryMs);
  socket
    .on('pong', heard)
    .on('message', heard)
    .on('close', () => clearInterval(timer));
}
