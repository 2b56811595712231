const drains = new Set<(isChanged: boolean) => void>();

/** Tells whoever sends webhooks in this process that some are due; in another one they hear of it by the journal (`spread.ts`). */
export function wakeDrain(): void {
  for (const wake of drains) wake(false);
}

/** Tells the same that endpoints are not what they were: what is sent next goes by what they are now. */
export function tellEndpointsChanged(): void {
  for (const wake of drains) wake(true);
}

export function onWake(wake: (isChanged: boolean) => void): () => void {
  drains.add(wake);
  return () => drains.delete(wake);
}
