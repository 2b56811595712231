import { existsSync, readdirSync } from 'node:fs';

/** How many servers the rack in a folder has when it is asked for `count`: a smaller number than before takes none away. */
export function serversIn(dir: string, count: number): number {
  const built = existsSync(dir) ? readdirSync(dir).filter((name) => /^DEMO-Q\d\d$/.test(name)).length : 0;
  return Math.max(count, built);
}
