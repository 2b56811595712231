import { isIPv6 } from 'node:net';
import { Agent, fetch, type Response } from 'undici';
import { connectPinned } from '../../pinned.ts';
import type { BmcConnection } from '../connection.ts';
import { defaultPorts } from '../connection.ts';
import { BmcError } from '../failure.ts';
import { objectOf, type Resource } from './resource.ts';

export interface Asked {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** On the BMC itself, from the root on. */
  path: string;
  headers?: Record<string, string>;
  body?: Record<string, unknown>;
}

export interface Answer {
  status: number;
  headers: Response['headers'];
  /** Of an empty answer: empty. */
  body: Resource;
}

export interface Http {
  ask(asked: Asked, leftMs: number): Promise<Answer>;
  close(): Promise<void>;
}

/** The longest that a BMC has to say, an event log with all its pages apart. */
const mostBytes = 2 ** 20;

/** Requests to a BMC that presents the certificate that is known, and none to anybody else. It sends us nowhere, and talks neither long nor much. */
export function openHttp({ address, port = defaultPorts.redfish, certificate }: BmcConnection): Http {
  const origin = `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const agent = new Agent({
    connections: 1,
    connect: (_options, done) =>
      connectPinned([certificate ?? ''], { host: address, port }, (error, socket) =>
        error === null ? done(null, socket) : done(error, null),
      ),
  });
  return {
    async ask({ method, path, headers = {}, body }, leftMs) {
      const signal = AbortSignal.timeout(Math.max(1, Math.round(leftMs)));
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const accepts = { accept: 'application/json', 'odata-version': '4.0' };
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      try {
        const response = await fetch(`${origin}${path}`, {
          ...{
            method,
            headers: { ...accepts, ...type, ...headers },
            redirect: 'manual',
            signal,
            dispatcher: agent,
          },
          ...sent,
        });
        if (response.status >= 300 && response.status < 400)
          throw new BmcError('answer_invalid', 'the BMC sends us elsewhere, which we do not follow');
        const { status, headers: said } = response;
        return { status, headers: said, body: objectIn(await textOf(response)) };
      } catch (error) {
        throw failureOf(error);
      }
    },
    close: () => agent.destroy(),
  };
}

async function textOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > mostBytes)
      throw new BmcError('answer_invalid', `the BMC answers more than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function objectIn(text: string): Resource {
  if (text.trim() === '') return objectOf({});
  try {
    return objectOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof BmcError) throw error;
    throw new BmcError('answer_invalid', 'the BMC answers no JSON: what answers may be no Redfish');
  }
}

function failureOf(error: unknown): BmcError {
  if (error instanceof BmcError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (/another certificate/.test(reason))
    return new BmcError(
      'other_bmc',
      'what answers at the BMC’s address presents another certificate than was enrolled',
    );
  return new BmcError('bmc_silent', `the BMC cannot be reached, or broke off: ${reason.slice(0, 200)}`);
}
