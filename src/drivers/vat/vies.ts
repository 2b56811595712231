import { splitVatId, type VatAnswer, VatError, type VatRegister } from './contract.ts';

export interface ViesOptions {
  /** Where its REST API answers, such as `https://ec.europa.eu/taxation_customs/vies/rest-api`. */
  url: string;
  /** How long a member state may take. Default: 20 seconds. */
  timeoutMs?: number;
}

const mostBytes = 65_536;

/** What it says of a number that no member state would give out. */
const malformed = 'INVALID_INPUT';
/** What no waiting mends: the provider's own VAT id is not known there. */
const lasting = new Set(['INVALID_REQUESTER_INFO']);

/**
 * VIES, the register of the European Commission, which asks the member states' own. Any of them may be away for hours
 * while the rest answers. Source: https://ec.europa.eu/taxation_customs/vies/#/technical-information
 */
export function vies({ url, timeoutMs = 20_000 }: ViesOptions): VatRegister {
  const address = `${url.replace(/\/+$/, '')}/check-vat-number`;

  async function ask(question: Record<string, string>): Promise<{ status: number; text: string }> {
    try {
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(question),
        redirect: 'error',
        // Also while the answer arrives, byte by byte if need be.
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, text: await textOf(response) };
    } catch (cause) {
      throw new VatError('register_unreachable', `VIES does not answer: ${reasonOf(cause)}`, { cause });
    }
  }

  return {
    kind: 'vies',
    capabilities: ['answers', 'consultation'],
    async check(vatId, requester) {
      const { country, number } = splitVatId(vatId);
      const asks = requester === null ? null : splitVatId(requester);
      const { status, text } = await ask({
        countryCode: country,
        vatNumber: number,
        ...(asks && { requesterMemberStateCode: asks.country, requesterNumber: asks.number }),
      });
      const body = parse(status, text);
      const refusal = refusalOf(body);
      if (refusal === malformed) return { valid: false, consultationNumber: null, name: null, address: null };
      if (refusal !== null) {
        const permanent = lasting.has(refusal);
        throw new VatError('register_refused', `VIES answered ${refusal}`, { permanent });
      }
      return answerOf(body, { status, country, number });
    },
  };
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let seen = 0;
  for await (const chunk of response.body ?? []) {
    seen += chunk.length;
    if (seen > mostBytes) throw new Error(`its answer is longer than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

type Body = Record<string, unknown>;

function parse(status: number, text: string): Body {
  const told = `${status}: ${text.slice(0, 100)}`;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  } catch (cause) {
    // A proxy's page, or a server that is still starting.
    throw new VatError('register_unreachable', `what answers is no VIES: ${told}`, { cause });
  }
  throw new VatError('register_unreachable', `what answers is no VIES: ${told}`);
}

/** Errors come with status 200 too. */
function refusalOf(body: Body): string | null {
  const errors = body.errorWrappers;
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  if (typeof first === 'object' && first !== null && 'error' in first && typeof first.error === 'string')
    return first.error;
  return body.actionSucceed === false ? 'an error without a name' : null;
}

// Only an answer that speaks of the very id that was asked for, in so many words, makes an id valid or invalid.
function answerOf(body: Body, asked: { status: number; country: string; number: string }): VatAnswer {
  const { valid, countryCode, vatNumber } = body;
  const isOurs = countryCode === asked.country && vatNumber === asked.number;
  if (asked.status !== 200 || typeof valid !== 'boolean' || !isOurs) {
    throw new VatError('register_unreachable', `VIES answered ${asked.status} and nothing of the id`);
  }
  return {
    valid,
    consultationNumber: plain(body.requestIdentifier),
    name: plain(body.name),
    address: plain(body.address),
  };
}

/** Three hyphens are what it says where it says nothing. */
function plain(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return text === '' || text === '---' ? null : text.slice(0, 500);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
