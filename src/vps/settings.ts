import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { record } from '../events/index.ts';
import { fail, type OrganizationContext, statement, transaction } from '../platform/index.ts';
import { requireHostname } from './access/identity.ts';
import { requestAction } from './actions/act.ts';
import { locked } from './actions/history.ts';
import { type ActionPayload, actionJob } from './actions/job.ts';
import { actionSaga, withMachine } from './actions/saga.ts';
import { type Capable, lackOf, requireCapability } from './capabilities.ts';
import { settingsChanged } from './events.ts';
import { requireUsable, requireVps } from './queries.ts';

const renameJob = actionJob<ActionPayload & { hostname: string }>('rename');

export interface Settings {
  hostname: string;
  boot_order: 'disk' | 'network';
  auto_backup: { enabled: boolean; hour: number; keep: number };
  protection: { delete: boolean; reinstall: boolean };
  nameservers: string[];
  rescue: boolean;
  notifications: Record<string, boolean>;
}

export interface SettingsChange {
  hostname?: string;
  boot_order?: 'disk' | 'network';
  auto_backup?: { enabled?: boolean; hour?: number; keep?: number };
  protection?: { delete?: boolean; reinstall?: boolean };
  nameservers?: string[];
  rescue?: boolean;
  notifications?: Record<string, boolean>;
}

interface SettingsRow {
  hostname: string;
  boot: 'disk' | 'network';
  rescue: boolean;
  backup_enabled: boolean;
  backup_hour: number;
  backup_keep: number;
  protect_delete: boolean;
  protect_reinstall: boolean;
  nameservers: string[];
  notifications: Record<string, boolean>;
}

const readRow = statement<SettingsRow, { serviceId: number }>(
  'vps.settings',
  `select hostname, boot, rescue, backup_enabled, backup_hour, backup_keep, protect_delete, protect_reinstall,
     array(select host(n) from unnest(nameservers) n) as nameservers, notifications
   from machines where service_id = :serviceId`,
);
const writeRow = statement<
  never,
  {
    serviceId: number;
    hostname: string;
    boot: 'network' | 'disk';
    rescue: boolean;
    backupEnabled: boolean;
    now: Date;
    backupHour: number;
    backupKeep: number;
    protectDelete: boolean;
    protectReinstall: boolean;
    nameservers: string[];
    notifications: object;
  }
>(
  'vps.writeSettings',
  `update machines set hostname = :hostname, boot = :boot, rescue = :rescue, backup_enabled = :backupEnabled,
     backup_wanted_at = case when not :backupEnabled then null when backup_enabled then backup_wanted_at else :now end,
     backup_hour = :backupHour, backup_keep = :backupKeep,
     protect_delete = :protectDelete, protect_reinstall = :protectReinstall, nameservers = :nameservers,
     notifications = :notifications
   where service_id = :serviceId`,
);

const notificationsAtMost = 20;

export async function readSettings(ctx: OrganizationContext, id: number) {
  const vps = await requireVps(ctx, id);
  const row = await ctx.db.maybe(readRow, { serviceId: id });
  if (row === null) requireUsable(vps);
  if (row === null) throw fail('action_not_allowed', { message: 'The machine is still being made' });
  return { settings: view(row) };
}

/**
 * Changes any part of the settings. Boot order, rescue and name servers count from the next start. A new hostname
 * is told to the guest's agent while the machine runs, as an action in its history, and counts from the next start
 * anyway, see `startMachine`; while an action is at work, which may be that start, there is none: `locked`.
 */
export async function changeSettings(ctx: OrganizationContext, id: number, change: SettingsChange) {
  check(change);
  return transaction(ctx, 'vps.changeSettings', async (tx) => {
    const vps = await requireVps(tx, id, { lock: true });
    requireUsable(vps);
    const before = (await readSettings(tx, id)).settings;
    const next = merge(before, change);
    checkNotifications(next);
    checkCapabilities(vps, before, next);
    await tx.db.run(writeRow, {
      serviceId: id,
      hostname: next.hostname,
      boot: next.boot_order,
      rescue: next.rescue,
      backupEnabled: next.auto_backup.enabled,
      now: tx.clock.now(),
      backupHour: next.auto_backup.hour,
      backupKeep: next.auto_backup.keep,
      protectDelete: next.protection.delete,
      protectReinstall: next.protection.reinstall,
      nameservers: next.nameservers,
      notifications: next.notifications,
    });
    const fields = (Object.keys(next) as (keyof Settings)[]).filter(
      (field) => !isDeepStrictEqual(next[field], before[field]),
    );
    if (fields.length > 0)
      await record(tx, settingsChanged, { subject: { type: 'service', id }, data: { fields } });
    if (next.hostname !== before.hostname) {
      if (vps.action !== null) throw locked(vps.action.command);
      // A node that cannot reach into its guests leaves the name for the next start, as does the rescue system.
      if (vps.state === 'running' && !vps.in_rescue && lackOf(vps, ['guest_agent']) === null)
        await requestAction(tx, id, renameJob, async () => ({ hostname: next.hostname }));
    }
    return readSettings(tx, id);
  });
}

function merge(before: Settings, change: SettingsChange): Settings {
  return {
    hostname: change.hostname?.toLowerCase() ?? before.hostname,
    boot_order: change.boot_order ?? before.boot_order,
    auto_backup: { ...before.auto_backup, ...change.auto_backup },
    protection: { ...before.protection, ...change.protection },
    nameservers: change.nameservers ?? before.nameservers,
    rescue: change.rescue ?? before.rescue,
    notifications: { ...before.notifications, ...change.notifications },
  };
}

function check(change: SettingsChange): void {
  const { hostname, nameservers = [] } = change;
  if (hostname !== undefined) requireHostname(hostname);
  // Scoped addresses are none to PostgreSQL, and mean nothing in a guest.
  const wrong = nameservers.findIndex((address) => isIP(address) === 0 || address.includes('%'));
  if (wrong >= 0) {
    throw fail('invalid_request', {
      details: [{ field: `nameservers[${wrong}]`, message: 'must be an IP address' }],
    });
  }
}

/** What was chosen before may be lacking since, so only what is chosen now is refused. */
function checkCapabilities(vps: Capable, before: Settings, next: Settings): void {
  if (next.rescue && !before.rescue) requireCapability(vps, 'rescue', 'rescue');
  if (next.boot_order === 'network' && before.boot_order === 'disk')
    requireCapability(vps, 'netboot', 'boot_order');
  if (next.auto_backup.enabled && !before.auto_backup.enabled)
    requireCapability(vps, 'backups', 'auto_backup.enabled');
}

/** What a change leaves out stays, so only the sum can be held to a limit. */
function checkNotifications({ notifications }: Settings): void {
  if (Object.keys(notifications).length <= notificationsAtMost) return;
  const message = `takes at most ${notificationsAtMost} names, those already there among them`;
  throw fail('invalid_request', { details: [{ field: 'notifications', message }] });
}

function view(row: SettingsRow): Settings {
  return {
    hostname: row.hostname,
    boot_order: row.boot,
    auto_backup: { enabled: row.backup_enabled, hour: row.backup_hour, keep: row.backup_keep },
    protection: { delete: row.protect_delete, reinstall: row.protect_reinstall },
    nameservers: row.nameservers,
    rescue: row.rescue,
    notifications: row.notifications,
  };
}

export const rename = actionSaga(renameJob, {
  steps: [
    {
      name: 'hostname',
      attempts: 2,
      do: (run) => withMachine(run, (driver, spec) => driver.setHostname(spec.id, run.payload.hostname)),
    },
  ],
});
