/**
 * Names of addresses (reverse DNS, RFC 1035 3.5, RFC 3596 2.5). Rules every driver keeps:
 * - `setName` can be repeated, and the last call wins. Taking away a name that is not there succeeds.
 * - A driver keeps no truth of its own: which name an address should have arrives with each call.
 * - Failures are `DnsError`s; `permanent` says whether trying again can help.
 */
export interface ReverseDns {
  /** Which engine this is: `database`, `powerdns`. */
  readonly kind: string;
  /** What it can beyond IPv4, which every engine must; conformance holds it to this. */
  readonly capabilities: readonly DnsCapability[];
  /** Gives an address (IPv4 or IPv6) a name, without a dot at its end; null takes the name away. */
  setName(address: string, name: string | null): Promise<void>;
}

/** `ipv6`: names of IPv6 addresses. */
export type DnsCapability = 'ipv6';

export type DnsErrorCode =
  /** Not an address, or not a name. */
  | 'name_invalid'
  /** The engine has no such ability; see `capabilities`. */
  | 'not_supported'
  /** No zone of the server holds this address. */
  | 'zone_absent'
  /** The server does not do it: for good, or for now. */
  | 'dns_refused'
  /** The server cannot be reached, or what answers is no name server. */
  | 'dns_unreachable';

/** A failed call. `message` is for staff and logs and never holds a key. */
export class DnsError extends Error {
  readonly code: DnsErrorCode;
  /** True when repeating the call cannot help. */
  readonly permanent: boolean;
  constructor(code: DnsErrorCode, message: string, options: { permanent?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.permanent = options.permanent ?? false;
  }
}
