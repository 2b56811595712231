/**
 * Every point between two effects has a name here: a transaction's commit, a saga's step. In production a
 * failpoint does nothing. Tests of crashes and failures steer it through the environment, because the process
 * that ends is the real product, started as a user would start it:
 *
 * - `INNKEEPER_CRASH_AT`: the process ends at this failpoint as if the power had gone.
 * - `INNKEEPER_FAIL_AT`: the step with this name fails for good, after it did its work.
 * - `INNKEEPER_REPEAT_STEPS=on`: every step's action and every undo runs twice.
 * - `INNKEEPER_TRACE_FAILPOINTS`: a file that collects the names passed.
 *
 * The first two may be `@` and the path of a file that holds the name, so that a sweep over many failpoints
 * moves on while the product runs instead of starting it anew each time.
 */
import { appendFileSync, readFileSync } from 'node:fs';

const crashAt = process.env.INNKEEPER_CRASH_AT;
const failAt = process.env.INNKEEPER_FAIL_AT;
const traceFile = process.env.INNKEEPER_TRACE_FAILPOINTS;

/** How often a step runs: once, unless a test asks for proof that twice is the same as once. */
export const stepRuns = process.env.INNKEEPER_REPEAT_STEPS === 'on' ? 2 : 1;

/** Marks a failpoint, such as `vps.provision/boot: after do`. */
export async function atFailpoint(name: string): Promise<void> {
  if (traceFile !== undefined) appendFileSync(traceFile, `${name}\n`);
  if (crashAt !== undefined && named(crashAt) === name) {
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined); // nothing may run on between the signal and its arrival
  }
}

/** Throws where a test asks this step to fail for good. */
export function failIfAsked(step: string): void {
  if (failAt === undefined || named(failAt) !== step) return;
  throw Object.assign(new Error(`${step} was made to fail`), { permanent: true });
}

function named(setting: string): string {
  return setting.startsWith('@') ? readFileSync(setting.slice(1), 'utf8').trim() : setting;
}
