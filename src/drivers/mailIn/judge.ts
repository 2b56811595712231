import { promises as dns } from 'node:dns';
import { buffer } from 'node:stream/consumers';
import { type JudgedMail, type Judgement, MailInError } from './contract.ts';

/** Asks the domain name system; a test has one of its own. */
export type Resolve = (name: string, type: string) => Promise<string[][] | string[]>;

/** Longer than honest names take, all of one mail together. */
const askingMs = 15_000;

/** Asks for the names of one mail. Whoever has servers that answer slowly keeps nothing waiting by that. */
export function asker(): Resolve {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  const began = performance.now();
  return async (name, type) => {
    if (performance.now() - began > askingMs)
      throw Object.assign(new Error('its names take too long'), { code: 'ETIMEOUT' });
    return resolver.resolve(name, type) as Promise<string[][] | string[]>;
  };
}

/** So many signatures has no mail that is honest; each of them asks for a name, and reads the mail once more. */
export const signaturesAtMost = 5;
/** RFC 5322 allows 998. What canonicalizes a body takes time with the square of its longest line. */
const lineAtMost = 64 * 1_024;

/** Answers about a name that may be another ones in a moment. */
const forNow = new Set(['temperror', 'temperr']);

/**
 * Whether a mail is from the domain that stands in its From (SPF by RFC 7208, DKIM by RFC 6376, DMARC by RFC 7489). A
 * domain that says nothing about itself needs a signature of its own, or a server that it names. Without `bySpf` signatures
 * alone count.
 */
export async function judgeMail(
  mail: JudgedMail,
  resolve: Resolve = asker(),
  bySpf = true,
): Promise<Judgement> {
  const { returnPath, client } = mail;
  const raw = await buffer(mail.content);
  const why = whyNot(raw);
  if (why !== null) return { proved: false, why };
  // Not at the top: a start need not read it.
  const { authenticate } = await import('mailauth');
  const { dkim, spf, dmarc } = await authenticate(raw, {
    ...{ ip: client.ip, helo: client.name, sender: returnPath, resolver: resolve },
    ...{ disableArc: true, disableBimi: true, minBitLength: 1_024 },
  });
  const [from, ...others] = dkim.headerFrom ?? [];
  if (from === undefined || others.length > 0 || dkim.fromFields !== 1)
    return { proved: false, why: 'it does not say of one sender that it is from them' };
  const domain = domainOf(from);
  // A signature that leaves the end of the mail out says nothing about what was put there.
  const signatures = (dkim.results ?? []).filter(
    ({ status }) => status.result === 'pass' && !status.underSized && status.aligned,
  );
  const policy = dmarc === false ? 'none' : dmarc.status.result;
  const isNamed =
    policy === 'none'
      ? spf !== false && spf.status.result === 'pass' && isOf(domainOf(spf.domain), domain)
      : policy === 'pass' && dmarc !== false && Boolean(dmarc.alignment.spf.result);
  const isServers = bySpf && isNamed;
  if ((policy === 'pass' || policy === 'none') && (isServers || signatures.length > 0))
    return { proved: true, domain };
  const results = [
    ...(dkim.results ?? []).map(({ status }) => `dkim=${status.result}`),
    `spf=${spf === false ? 'none' : spf.status.result}`,
    `dmarc=${policy}`,
  ];
  const isForNow = [policy, ...(dkim.results ?? []).map(({ status }) => status.result)].some((result) =>
    forNow.has(result),
  );
  if (isForNow) {
    const message = `the names of ${domain} cannot be looked up: ${results.join(' ')}`;
    throw new MailInError('names_unreachable', message);
  }
  return { proved: false, why: results.join(' ') };
}

/** Why a mail is not even looked at. */
function whyNot(raw: Buffer): string | null {
  for (let at = 0; at < raw.length; ) {
    const end = raw.indexOf('\n', at);
    if ((end === -1 ? raw.length : end) - at > lineAtMost) return 'it has a line that is too long';
    if (end === -1) break;
    at = end + 1;
  }
  const head = raw.toString('latin1', 0, headOf(raw));
  const signatures = head.match(/^dkim-signature[ \t]*:/gim)?.length ?? 0;
  return signatures > signaturesAtMost ? 'it has too many signatures' : null;
}

function headOf(raw: Buffer): number {
  const ends = ['\r\n\r\n', '\n\n'].map((mark) => raw.indexOf(mark)).filter((at) => at !== -1);
  return ends.length === 0 ? raw.length : Math.min(...ends);
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** The same domain, or a part of it: what a domain's own servers call themselves. */
function isOf(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
