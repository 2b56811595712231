import type { BmcConnection } from '../connection.ts';
import { BmcError } from '../failure.ts';
import { type Answer, type Asked, openHttp } from './http.ts';
import { checkedPath, type Resource, refusalIn } from './resource.ts';

export interface Redfish {
  get(path: string, leftMs: number): Promise<Resource>;
  post(path: string, body: Record<string, unknown>, leftMs: number): Promise<void>;
  /** Changes what is there, as it was when we looked: held by its ETag where the BMC gives one. */
  patch(path: string, body: Record<string, unknown>, leftMs: number): Promise<void>;
  /** The status that somebody without a session gets. */
  asNobody(path: string, leftMs: number): Promise<number>;
  signsIn(user: string, password: string, leftMs: number): Promise<boolean>;
  becomes(password: string): void;
  close(): Promise<void>;
}

const sessionsPath = '/redfish/v1/SessionService/Sessions';
const farewellMs = 2_000;

interface Session {
  token: string;
  path: string | null;
}

/** The API of a BMC, in a session of our own: few are to be had, so that there is one for a handle and it is ended with it. */
export function redfishClient(connection: BmcConnection): Redfish {
  const http = openHttp(connection);
  const { user } = connection;
  let { password } = connection;
  let session: Session | null = null;

  async function signIn(name: string, secret: string, leftMs: number): Promise<Session> {
    const body = { UserName: name, Password: secret };
    const answer = await http.ask({ method: 'POST', path: sessionsPath, body }, leftMs);
    if ([400, 401, 403].includes(answer.status))
      throw new BmcError(
        'sign_in_refused',
        'the BMC does not let us in: the name or the password is no longer right',
      );
    const token = answer.headers.get('x-auth-token');
    if (answer.status >= 400 || token === null) throw refused(answer, [secret]);
    return { token, path: pathIn(answer.headers.get('location')) };
  }

  async function signOut({ token, path }: Session, leftMs: number): Promise<void> {
    if (path !== null) await http.ask({ method: 'DELETE', path, headers: { 'x-auth-token': token } }, leftMs);
  }

  async function ask(asked: Asked, leftMs: number): Promise<Answer> {
    const endsMs = performance.now() + leftMs;
    const left = () => endsMs - performance.now();
    const wasOpen = session !== null;
    session ??= await signIn(user, password, leftMs);
    const headers = { ...asked.headers, 'x-auth-token': session.token };
    const answer = await http.ask({ ...asked, headers }, left());
    // A session ends by itself after a while, and with the BMC's own restart.
    if (answer.status === 401 && wasOpen) {
      session = null;
      return ask(asked, left());
    }
    if (answer.status === 401 || answer.status === 403)
      throw new BmcError('sign_in_refused', 'the BMC lets us in, and not as an administrator');
    if (answer.status >= 400 && answer.status !== 412) throw refused(answer, [password]);
    return answer;
  }

  async function patchOnce(path: string, body: Record<string, unknown>, leftMs: number): Promise<Answer> {
    const endsMs = performance.now() + leftMs;
    const seen = await ask({ method: 'GET', path }, leftMs);
    const etag = seen.headers.get('etag');
    const headers: Record<string, string> = etag === null ? {} : { 'if-match': etag };
    return ask({ method: 'PATCH', path, body, headers }, endsMs - performance.now());
  }

  return {
    get: async (path, leftMs) => (await ask({ method: 'GET', path }, leftMs)).body,
    post: async (path, body, leftMs) => void (await ask({ method: 'POST', path, body }, leftMs)),
    async patch(path, body, leftMs) {
      const endsMs = performance.now() + leftMs;
      const first = await patchOnce(path, body, leftMs);
      if (first.status !== 412) return;
      // Somebody else changed it in between; what we want does not depend on what it was.
      const second = await patchOnce(path, body, endsMs - performance.now());
      if (second.status === 412) throw refused(second, [password]);
    },
    asNobody: async (path, leftMs) => (await http.ask({ method: 'GET', path }, leftMs)).status,
    async signsIn(name, secret, leftMs) {
      const endsMs = performance.now() + leftMs;
      try {
        await signOut(await signIn(name, secret, leftMs), endsMs - performance.now());
        return true;
      } catch (error) {
        if (error instanceof BmcError && error.code === 'sign_in_refused') return false;
        throw error;
      }
    },
    becomes(next) {
      password = next;
      session = null;
    },
    async close() {
      if (session !== null) await signOut(session, farewellMs).catch(() => undefined);
      await http.close();
    },
  };
}

function refused({ status, body }: Answer, secrets: readonly string[]): BmcError {
  return new BmcError('bmc_refused', `the BMC refuses (${status}): ${refusalIn(body, secrets)}`);
}

/** Some say where as a whole URL; which host that names is of no interest. */
function pathIn(location: string | null): string | null {
  if (location === null) return null;
  return checkedPath(location.replace(/^https?:\/\/[^/]+/, ''));
}
