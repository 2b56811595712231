import { randomUUID } from 'node:crypto';
import type { Context } from '../../platform/index.ts';

/** What one process wants of another: to join a line that it holds, to see a machine of a node that it runs or to know how it is, the serial line of a server, or nothing but whether it can be reached. */
export type Wanted =
  | { what: 'line'; serviceId: number }
  | { what: 'serial' | 'vnc' | 'screen'; serviceId: number; nodeId: number }
  | { what: 'machine'; machine: string; nodeId: number }
  | { what: 'server'; serverId: number }
  | { what: 'nothing' };

/** What is shown for it: sealed with the secret key, so only processes of ours can make one. */
export type Pass = Wanted & {
  /** The process that it is meant for. */
  holder: string;
  nonce: string;
  /** Milliseconds. */
  madeAt: number;
};

const passContext = 'to join a console line';
const answerContext = 'holds a console line';
/** Clocks of hosts differ by less. */
const goodForMs = 60_000;

export function makePass(
  { seal, clock }: Context,
  wanted: Wanted,
  holder: string,
): { pass: string; nonce: string } {
  const nonce = randomUUID();
  const said: Pass = { ...wanted, holder, nonce, madeAt: clock.now().getTime() };
  return { pass: seal.close(JSON.stringify(said), passContext).toString('base64url'), nonce };
}

/** What the holder says to who has come with a pass: that it could read it. */
export function answerTo({ seal }: Context, { nonce }: Pass): string {
  return seal.close(nonce, answerContext).toString('base64url');
}

/** Whether an answer is of a process that could read the pass with this nonce: nothing is passed on to anybody else. */
export function isAnswer({ seal }: Context, answer: unknown, nonce: string): boolean {
  if (typeof answer !== 'string') return false;
  try {
    return seal.open(Buffer.from(answer, 'base64url'), answerContext) === nonce;
  } catch {
    return false;
  }
}

/** Reads passes that others show; each is good once. */
export function passReader({ seal, clock }: Context): (shown: string) => Pass | null {
  const used = new Map<string, number>();
  return (shown) => {
    const now = clock.now().getTime();
    for (const [nonce, madeAt] of used) if (Math.abs(now - madeAt) > goodForMs) used.delete(nonce);
    const pass = opened(shown);
    if (pass === null || Math.abs(now - pass.madeAt) > goodForMs || used.has(pass.nonce)) return null;
    used.set(pass.nonce, pass.madeAt);
    return pass;
  };

  function opened(shown: string): Pass | null {
    try {
      return JSON.parse(seal.open(Buffer.from(shown, 'base64url'), passContext)) as Pass;
    } catch {
      return null;
    }
  }
}
