import { randomUUID } from 'node:crypto';

/** An answer as it came. `body` is parsed JSON, whatever it is; tests name the parts they look at. */
export interface Response {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and a wrong one fails them
  body: any;
}

export interface Client {
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  delete(path: string, headers?: Record<string, string>): Promise<Response>;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** A client of the API that sends what it is told and judges nothing. */
export function apiClient(
  base: string,
  who: { token?: string; organizationId?: number | undefined },
): Client {
  const identity: Record<string, string> = {};
  if (who.token !== undefined) identity.token = who.token;
  if (who.organizationId !== undefined) identity['x-organization-id'] = String(who.organizationId);

  const request: Client['request'] = async (method, path, body, headers = {}) => {
    const sent = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(base + path, {
      method,
      headers: { ...identity, ...sent, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    // A stream has no end to wait for.
    const isStream = response.headers.get('content-type') === 'text/event-stream';
    if (isStream) await response.body?.cancel();
    const text = isStream ? '' : await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  };
  return methodsOf(request);
}

/** A client of whoever asks in a way of their own. */
export function methodsOf(request: Client['request']): Client {
  return {
    request,
    get: (path, headers) => request('GET', path, undefined, headers),
    post: (path, body, headers) => request('POST', path, body ?? {}, headers),
    patch: (path, body, headers) => request('PATCH', path, body, headers),
    put: (path, body, headers) => request('PUT', path, body, headers),
    delete: (path, headers) => request('DELETE', path, undefined, headers),
  };
}

/**
 * The same client, which waits and repeats what a busy machine refused (429, 503) until it is answered, each change under a
 * key of its own, so that it is done once.
 */
export function patient(client: Client): Client {
  const request: Client['request'] = async (method, path, body, headers) => {
    const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
    for (;;) {
      const answer = await client.request(method, path, body, { ...key, ...headers });
      if (answer.status !== 429 && answer.status !== 503) return answer;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  return methodsOf(request);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
