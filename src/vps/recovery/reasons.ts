import type { LostMachine } from './rows.ts';

/** Actions that leave the machine whole, or make a copy of what is lost: they end when it is made anew. */
export const endsFor: ReadonlySet<string> = new Set([
  ...['start', 'stop', 'restart', 'reset_password', 'update_access', 'rename'],
  ...['create_snapshot', 'create_backup', 'delete_snapshot'],
]);

/** Why a machine of a lost node cannot be made anew elsewhere, a sentence without the full stop; null: it can. */
export function reasonAgainst(machine: LostMachine): string | null {
  const { service_status: status, keeps, has_backup, backup, kept_on_silent, command } = machine;
  if (status !== 'active' && status !== 'suspended') return `Its service is ${status}`;
  if (!keeps) return 'The engine of its cluster keeps no backups';
  if (!has_backup) return 'It has no backup';
  if (backup === null)
    return kept_on_silent === null
      ? 'Its backups are on this node alone'
      : `Its last backup is on ${kept_on_silent}, which does not answer`;
  if (command !== null && !endsFor.has(command))
    return `The action ${command} is under way with it, and cannot be cut off`;
  return null;
}
