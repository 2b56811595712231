import type { Hypervisor } from '../../drivers/hypervisor/index.ts';
import type { Image } from '../../fleet/index.ts';
import type { Run } from '../../platform/index.ts';
import { noteAction } from '../actions/history.ts';

/** Makes an image ready on a node. The action says how far that is: the first time takes minutes. */
export async function ensureImage(
  { ctx, payload }: Run<{ actionId: number }, object>,
  hypervisor: Hypervisor,
  image: Image,
): Promise<void> {
  let note: string | null = null;
  let writing: Promise<void> = Promise.resolve();
  const say = (next: string | null) => {
    if (next === note) return;
    note = next;
    writing = writing.then(() => noteAction(ctx, payload.actionId, next)).catch(() => undefined);
  };
  try {
    await hypervisor.ensureImage(image.source, (line) => {
      ctx.log.info({ image: image.slug }, line);
      say(inWords(image.name, line) ?? note);
    });
  } finally {
    say(null);
    await writing;
  }
}

/** A driver's line in words for the customer; null when it tells nothing of how far it is. */
function inWords(name: string, line: string): string | null {
  const step = /^Building .*\((\d+) of (\d+)\)/.exec(line);
  if (step) {
    return `${name} is being built on this node for the first time, step ${step[1]} of ${step[2]}. All of it takes about three minutes, and up to ten on a busy node`;
  }
  const load = /^Downloading .*: (.+)$/.exec(line);
  return load ? `${name} is being downloaded for the first time: ${load[1]}` : null;
}
