import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorDetail } from '../errors.ts';

const namesInUrl = ['token', 'api_key', 'apikey', 'key', 'access_token'];

/** Why a request counts as one without a key, and what to do: the key itself is never repeated. */
export function whyNoKey(headers: IncomingHttpHeaders, url: string): ErrorDetail[] {
  const detail = (field: string, message: string): ErrorDetail[] => [{ field, message }];
  const { token, authorization } = headers;
  if (typeof token === 'string' && token !== '') return detail('token', 'is too long to be a key');
  if (authorization !== undefined) {
    return detail(
      'authorization',
      'must be the word Bearer, a space and your API key; or send the header token',
    );
  }
  for (const name of ['x-api-key', 'api-key', 'x-auth-token']) {
    if (headers[name] !== undefined)
      return detail(name, 'is not read; send your API key in the header token');
  }
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
  const inUrl = namesInUrl.find((name) => query.has(name));
  if (inUrl !== undefined) {
    const why = 'is not read, since logs keep URLs; replace this key if it is a real one';
    return detail(inUrl, `${why}, and send the new one in the header token`);
  }
  return detail('token', 'is missing: send your API key in this header');
}

/** Why a credential that was refused could not be a key; empty when it could. */
export function whyNotAKey(headers: IncomingHttpHeaders): ErrorDetail[] {
  const { token } = headers;
  if (typeof token !== 'string' || !/^bearer\s/i.test(token)) return [];
  return [{ field: 'token', message: 'takes the API key alone, without the word Bearer' }];
}

/** For an answer of 403 that says nothing more exact: whose resource it is. */
export function whyForbidden(params: unknown): ErrorDetail[] | undefined {
  if (typeof params !== 'object' || params === null) return undefined;
  const [field] = Object.keys(params);
  if (field === undefined) return undefined;
  return [{ field, message: 'is of another organization than the one that x-organization-id names' }];
}
