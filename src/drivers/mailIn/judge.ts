import { promises as dns } from 'node:dns';
import { authenticate } from 'mailauth';
import type { JudgedMail, Judgement } from './contract.ts';

/** Asks the domain name system; a test has one of its own. */
export type Resolve = (name: string, type: string) => Promise<string[][] | string[]>;

const resolveByDns: Resolve = (name, type) => dns.resolve(name, type) as Promise<string[][] | string[]>;

/** Answers about a name that may be another ones in a moment. */
const forNow = new Set(['temperror', 'temperr']);

/**
 * Whether a mail is from the domain that stands in its From (SPF by RFC 7208, DKIM by RFC 6376, DMARC by RFC 7489). A
 * domain that says nothing about itself needs a signature of its own, or a server that it names.
 */
export async function judgeMail(mail: JudgedMail, resolve: Resolve = resolveByDns): Promise<Judgement> {
  const { content, returnPath, client } = mail;
  const { dkim, spf, dmarc } = await authenticate(content, {
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
  const isServers =
    policy === 'none'
      ? spf !== false && spf.status.result === 'pass' && isOf(domainOf(spf.domain), domain)
      : policy === 'pass' && dmarc !== false && Boolean(dmarc.alignment.spf.result);
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
  if (isForNow) throw new Error(`the names of ${domain} cannot be looked up: ${results.join(' ')}`);
  return { proved: false, why: results.join(' ') };
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** The same domain, or a part of it: what a domain's own servers call themselves. */
function isOf(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
