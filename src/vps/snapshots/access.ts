import { HypervisorError } from '../../drivers/hypervisor/index.ts';
import { type Run, statement, type TxContext, transaction } from '../../platform/index.ts';
import { type InstalledKey, keysOnMachine, writeAccess } from '../access/keys.ts';
import type { ExistingVps } from '../actions/act.ts';
import { requireNoStop } from '../actions/forcedStop.ts';
import type { ActionPayload } from '../actions/job.ts';
import { withMachine } from '../actions/saga.ts';
import { requireCapability } from '../capabilities.ts';

/** A copy brings back the keys and passwords of its time: what is known of them, and what is to be there afterwards. */
export interface CopiedAccess {
  /** Keys of the copy; null when nobody wrote them down. */
  kept?: InstalledKey[] | null;
  /** Keys of today that are to be put back into the restored system; null: those of the copy stay. */
  present?: InstalledKey[] | null;
}

const accessOfCopy = statement<{ access: InstalledKey[] | null }, { serviceId: number; name: string }>(
  'vps.accessOfCopy',
  'select access from vps_snapshots where service_id = :serviceId and name = :name',
);

/** What a restore has to know of the keys. `not_supported` where `keepKeys` cannot be done. */
export async function accessToRestore(
  tx: TxContext,
  vps: ExistingVps,
  name: string,
  keepKeys: boolean,
): Promise<CopiedAccess> {
  if (keepKeys) requireCapability(vps, 'guest_agent', 'keep_keys');
  const row = await tx.db.maybe(accessOfCopy, { serviceId: vps.service_id, name });
  const present = keepKeys ? await keysOnMachine(tx, vps.service_id) : null;
  return { kept: row?.access ?? null, present };
}

type AccessRun = Run<ActionPayload & CopiedAccess, object>;

/** Shows what the disk that came back lets in. */
export async function showKeptAccess({ ctx, payload }: AccessRun): Promise<void> {
  const { kept } = payload;
  if (kept) await show(ctx, payload, kept);
}

const readyTimeoutMs = 120_000;

/** Puts the keys of today back into the system that came back, once it runs, where that was asked for. */
export async function putKeysBack(run: AccessRun): Promise<void> {
  const { present } = run.payload;
  if (!present || run.payload.before.wanted !== 'running') return;
  await requireNoStop(run);
  await withMachine(run, async (driver, spec) => {
    await driver
      .waitUntilReady(spec, { timeoutMs: readyTimeoutMs, signal: run.signal })
      .catch((error: unknown) => {
        // The agent may answer where SSH does not.
        if (!(error instanceof HypervisorError && error.code === 'ready_timeout')) throw error;
      });
    await driver.setAuthorizedKeys(
      spec.id,
      present.map((key) => key.public_key),
    );
  });
  await show(run.ctx, run.payload, present);
}

function show(ctx: AccessRun['ctx'], payload: ActionPayload, keys: InstalledKey[]): Promise<void> {
  const { serviceId, organizationId } = payload;
  return transaction(ctx, 'vps.showAccess', (tx) => writeAccess(tx, serviceId, organizationId, keys));
}

/** What the customer is told of a restore that went well. */
export function noteOnAccess({ kept, present, before }: ActionPayload & CopiedAccess): string {
  const password = 'The password is the one of the time of the copy; reset-password sets another.';
  if (present && before.wanted === 'running') return `The keys of today are back. ${password}`;
  const keys = kept
    ? 'The keys that the machine lets in are those of the time of the copy, as its access shows.'
    : 'Which keys the machine lets in was not written down when the copy was made; its access shows those of before.';
  return `${keys} Send the keys of today to its access to put them back. ${password}`;
}
