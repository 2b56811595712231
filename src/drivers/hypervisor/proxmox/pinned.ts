import { Agent, type AgentOptions } from 'node:https';
import { type ConnectionOptions, connect } from 'node:tls';
import { plainFingerprint } from './options.ts';

const connectMs = 5_000;

/**
 * Makes connections to whoever presents one of these certificates and to nobody else. Nothing is sent before that is known: the
 * socket is handed over when the certificate has been looked at. Sessions are not resumed, since such a one presents none.
 */
export function pinnedAgent(fingerprints: readonly string[], more: AgentOptions): Agent {
  const known = new Set(fingerprints.map(plainFingerprint));
  const agent = new Agent({ ...more, maxCachedSessions: 0 });
  agent.createConnection = (options, done) => {
    const target = options as ConnectionOptions;
    // What a certificate says of itself, and who signed it, counts for nothing beside which one it is.
    const socket = connect({ ...target, rejectUnauthorized: false, minVersion: 'TLSv1.2' });
    const failed = (error: Error) => done?.(error, socket);
    socket.setTimeout(connectMs, () => socket.destroy(new Error('no connection in time')));
    socket.once('error', failed);
    socket.once('secureConnect', () => {
      socket.off('error', failed);
      socket.setTimeout(0).removeAllListeners('timeout');
      const presented = socket.getPeerX509Certificate()?.fingerprint256;
      if (presented !== undefined && known.has(plainFingerprint(presented))) return done?.(null, socket);
      socket.destroy();
      done?.(new Error('it presents another certificate than the one that is known'), socket);
    });
    return undefined;
  };
  return agent;
}
