import { type SshKey, sshKeysOf } from '../../account/index.ts';
import {
  type Context,
  fail,
  type OrganizationContext,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { requestAction } from '../actions/act.ts';
import { viewAction } from '../actions/history.ts';
import { type ActionPayload, actionJob } from '../actions/job.ts';
import { actionSaga, withMachine } from '../actions/saga.ts';
import { requireVps } from '../queries.ts';

/**
 * A key that a machine was told to let in; it stays there when it leaves the account. Jobs and snapshots carry it
 * with the names of its row.
 */
export interface InstalledKey {
  id: number;
  name: string;
  fingerprint: string;
  public_key: string;
}

const installedKeys = statement<InstalledKey, { serviceId: number }>(
  'vps.installedKeys',
  `select ssh_key_id as id, name, fingerprint, public_key from vps_access
   where service_id = :serviceId order by name, ssh_key_id`,
);
const deleteAccess = statement<never, { serviceId: number }>(
  'vps.deleteAccess',
  'delete from vps_access where service_id = :serviceId',
);
const insertAccess = statement<never, { serviceId: number; organizationId: number; rows: string }>(
  'vps.insertAccess',
  `insert into vps_access (service_id, organization_id, ssh_key_id, name, fingerprint, public_key)
   select :serviceId, :organizationId, k.id, k.name, k.fingerprint, k.public_key
   from jsonb_to_recordset(:rows::jsonb) as k(id bigint, name text, fingerprint text, public_key text)`,
);

/** A key of an account, as a machine gets it. */
export function toInstall({ id, name, fingerprint, publicKey }: SshKey): InstalledKey {
  return { id, name, fingerprint, public_key: publicKey };
}

export function keysOnMachine(ctx: Context, serviceId: number): Promise<InstalledKey[]> {
  return ctx.db.many(installedKeys, { serviceId });
}

/** Writes down which keys a machine lets in. */
export async function writeAccess(
  ctx: TxContext,
  serviceId: number,
  organizationId: number,
  keys: InstalledKey[],
): Promise<void> {
  await ctx.db.run(deleteAccess, { serviceId });
  await ctx.db.run(insertAccess, { serviceId, organizationId, rows: JSON.stringify(keys) });
}

/** The keys of the caller's account, and which of them the machine lets in; keys of others on it as well. */
export async function readAccess(ctx: OrganizationContext, id: number) {
  await requireVps(ctx, id);
  const installed = await keysOnMachine(ctx, id);
  const own = await sshKeysOf(ctx, ctx.actor.userId);
  const isInstalled = new Set(installed.map((key) => key.id));
  const others = installed.filter((key) => own.every((candidate) => candidate.id !== key.id));
  return {
    keys: [...own, ...others].map(({ id: keyId, name, fingerprint }) => ({
      id: keyId,
      name,
      fingerprint,
      installed: isInstalled.has(keyId),
    })),
  };
}

/** The keys with these ids: of the caller's account, or already on the machine. */
export async function chooseKeys(
  ctx: OrganizationContext,
  serviceId: number,
  ids: number[],
): Promise<InstalledKey[]> {
  const known = new Map<number, InstalledKey>();
  const own = (await sshKeysOf(ctx, ctx.actor.userId)).map(toInstall);
  for (const key of [...(await keysOnMachine(ctx, serviceId)), ...own]) known.set(key.id, key);
  return [...new Set(ids)].map((id) => {
    const key = known.get(id);
    if (key) return key;
    const message = `${id} is not an SSH key of your account`;
    throw fail('invalid_request', { details: [{ field: 'ssh_key_ids', message }] });
  });
}

const updateAccessJob = actionJob<ActionPayload & { keys: InstalledKey[] }>('update_access');

/** Replaces the keys that the running machine lets in. */
export async function replaceAccess(ctx: OrganizationContext, id: number, body: { ssh_key_ids: number[] }) {
  const action = await requestAction(ctx, id, updateAccessJob, async (tx) => ({
    keys: await chooseKeys(tx, id, body.ssh_key_ids),
  }));
  return { action: viewAction(ctx, action) };
}

export const updateAccess = actionSaga(updateAccessJob, {
  steps: [
    {
      name: 'keys',
      attempts: 2,
      do: (run) =>
        withMachine(run, (hypervisor, spec) =>
          hypervisor.setAuthorizedKeys(
            spec.id,
            run.payload.keys.map((key) => key.public_key),
          ),
        ),
    },
  ],
  succeeded: (ctx, payload) => writeAccess(ctx, payload.serviceId, payload.organizationId, payload.keys),
});
