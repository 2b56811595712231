import { sshKeysOf } from '../account/index.ts';
import { identityLimits, keysBytes } from '../drivers/hypervisor/index.ts';
import { type AccountContext, fail } from '../platform/index.ts';
import { hashServerPassword } from '../services/index.ts';
import { generatePassword, requireStrong } from '../vps/index.ts';

/** Whom a system is to let in, as its customer says it. */
export interface WantedAccess {
  password?: string | undefined;
  /** Of the caller's account; absent: all of them. */
  ssh_key_ids?: number[] | undefined;
}

/** The same as systems get it, and the password that was generated because there would be no other way in. */
interface Access {
  keys: string[];
  passwordHash: string | null;
  generated: string | null;
}

/** `weak_password`; `invalid_request` where a key is none of the caller's account, or they are more than a system takes. */
export async function chooseAccess(
  ctx: AccountContext,
  { password, ssh_key_ids: ids }: WantedAccess,
): Promise<Access> {
  if (password !== undefined) requireStrong(password);
  const own = await sshKeysOf(ctx, ctx.actor.userId);
  const chosen =
    ids === undefined ? own : [...new Set(ids)].map((id) => own.find((key) => key.id === id) ?? id);
  const keys = chosen.map((key) => {
    if (typeof key === 'number') throw refusedKeys(`${key} is not an SSH key of your account`);
    return key.publicKey;
  });
  if (keysBytes(keys) > identityLimits.authorizedKeysBytes)
    throw refusedKeys(`must have at most ${identityLimits.authorizedKeysBytes} bytes of keys`);
  const generated = password === undefined && keys.length === 0 ? generatePassword() : null;
  const clear = password ?? generated;
  return { keys, passwordHash: clear === null ? null : hashServerPassword(clear), generated };
}

function refusedKeys(message: string) {
  return fail('invalid_request', { details: [{ field: 'ssh_key_ids', message }] });
}
