const drains = new Set<() => void>();

/** Tells whoever sends webhooks in this process that some are due; others find them within a second. */
export function wakeDrain(): void {
  for (const wake of drains) wake();
}

export function onWake(wake: () => void): () => void {
  drains.add(wake);
  return () => drains.delete(wake);
}
