import { Agent, type AgentOptions } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

const connectMs = 5_000;

/**
 * Connects to whoever presents one of these certificates (SHA-256 in hexadecimal) and to nobody else. Nothing is sent before that is known: `done` is
 * called when the certificate has been looked at. Sessions are not to be resumed, since such a one presents none.
 */
export function connectPinned(
  fingerprints: readonly string[],
  target: ConnectionOptions,
  done: (error: Error | null, socket: TLSSocket) => void,
): void {
  const known = new Set(fingerprints.map(plainFingerprint));
  // What a certificate says of itself, and who signed it, counts for nothing beside which one it is.
  const socket = connect({ ...target, rejectUnauthorized: false, minVersion: 'TLSv1.2' });
  const failed = (error: Error) => done(error, socket);
  socket.setTimeout(connectMs, () => socket.destroy(new Error('no connection in time')));
  socket.once('error', failed);
  socket.once('secureConnect', () => {
    socket.off('error', failed);
    socket.setTimeout(0).removeAllListeners('timeout');
    const presented = socket.getPeerX509Certificate()?.fingerprint256;
    if (presented !== undefined && known.has(plainFingerprint(presented))) return done(null, socket);
    socket.destroy();
    done(new Error('it presents another certificate than the one that is known'), socket);
  });
}

/** The same as an agent of Node's own requests. */
export function pinnedAgent(fingerprints: readonly string[], more: AgentOptions): Agent {
  const agent = new Agent({ ...more, maxCachedSessions: 0 });
  agent.createConnection = (options, done) => {
    connectPinned(fingerprints, options as ConnectionOptions, (error, socket) => done?.(error, socket));
    return undefined;
  };
  return agent;
}

function plainFingerprint(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}
