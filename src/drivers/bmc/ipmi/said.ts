import type { ProgramError } from '../../../platform/host/program.ts';
import { BmcError } from '../failure.ts';

/** It knows no cipher suite that we asked for; another one may do. */
class OtherSuite extends BmcError {
  constructor(line: string) {
    super('bmc_refused', `the BMC knows none of our cipher suites: ${line}`);
    this.name = 'Error';
  }
}

export function isOtherSuite(error: unknown): boolean {
  return error instanceof OtherSuite;
}

/**
 * What went wrong, of what `ipmitool` printed: with `-v` it tells apart who is silent, who does not let us in and who refuses. What it printed is
 * kept out of the error but for one line, and that without passwords.
 */
export function failureOf({ exitCode, stderr }: ProgramError, secrets: readonly string[]): BmcError {
  const line = (pattern: RegExp) => hidden(pattern.exec(stderr)?.[0] ?? '', secrets);
  const session = line(/Error in open session response message.*/);
  if (/no matching cipher|invalid (authentication|integrity|confidentiality) algorithm/.test(session))
    return new OtherSuite(session);
  if (session) return new BmcError('bmc_refused', `the BMC opens no session: ${session}`);
  if (/RAKP 2 message indicates an error|RAKP [24] (HMAC|integrity|message).*(invalid|error)/.test(stderr))
    return new BmcError(
      'sign_in_refused',
      'the BMC does not let us in: the name or the password is no longer right, or another BMC answers there',
    );
  if (/Set Session Privilege Level to \w+ failed/.test(stderr))
    return new BmcError('sign_in_refused', 'the BMC lets us in, and not as an administrator');
  if (/it printed more than/.test(stderr))
    return new BmcError('answer_invalid', 'the BMC’s answer has no end');
  const refusal = line(/\brsp=0x\w\w\): .*/);
  if (refusal) return new BmcError('bmc_refused', `the BMC refuses: ${refusal}`);
  if (exitCode === null || noAnswer.test(stderr))
    return new BmcError('bmc_silent', 'the BMC did not answer in time');
  return new BmcError('bmc_refused', `the BMC does not do this: ${hidden(lastLine(stderr), secrets)}`);
}

const noAnswer =
  /Get Auth Capabilities error|Unable to establish|Unable to send RAW command|[Tt]imeout|No response/;

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim().slice(0, 200) ?? '';
}

function hidden(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(Boolean)
    .reduce((left, secret) => left.replaceAll(secret, '(secret)'), text)
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 200);
}
