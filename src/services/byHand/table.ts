/** What staff may have to do by hand with a service that no room looks after, and what it makes needless. */
export const tasks = {
  suspend: { undoes: ['unsuspend'] },
  unsuspend: { undoes: ['suspend'] },
  renew: { undoes: [] },
  change: { undoes: [] },
  terminate: { undoes: ['suspend', 'unsuspend', 'renew', 'change'] },
} as const satisfies Record<string, { undoes: readonly string[] }>;

export type Task = keyof typeof tasks;

export const taskNames = Object.keys(tasks) as Task[];
