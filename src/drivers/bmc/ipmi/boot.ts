import type { BootFrom, NextBoot } from '../contract.ts';
import { BmcError } from '../failure.ts';
import type { Ipmi } from './program.ts';

const chassis = 0x00;
const setOptions = 0x08;
const getOptions = 0x09;
const keepFlags = 3;
const bootFlags = 5;
const selectors: Record<BootFrom, number> = { network: 1, disk: 2 };

export async function setBoot(ipmi: Ipmi, boot: NextBoot | null, leftMs: number): Promise<void> {
  const endsMs = performance.now() + leftMs;
  // Some forget the choice when the server is not switched within a minute; some do not know that they could be told.
  await ipmi.raw([chassis, setOptions, keepFlags, 0x08], leftMs).catch((error: unknown) => {
    if (!(error instanceof BmcError) || error.code !== 'bmc_refused') throw error;
  });
  const isValid = 0x80;
  const isUefi = boot?.firmware === 'uefi' ? 0x20 : 0;
  const selector = boot === null ? 0 : selectors[boot.from] << 2;
  await ipmi.raw(
    [chassis, setOptions, bootFlags, isValid | isUefi, selector, 0, 0, 0],
    endsMs - performance.now(),
  );
}

/** Null where there is no choice, or one that we never make. */
export async function readBoot(ipmi: Ipmi, leftMs: number): Promise<BootFrom | null> {
  const [, parameter, , selector] = await ipmi.raw([chassis, getOptions, bootFlags, 0, 0], leftMs);
  if (parameter === undefined || selector === undefined || (parameter & 0x7f) !== bootFlags)
    throw new BmcError('answer_invalid', 'the BMC does not say what the server starts from');
  const device = (selector >> 2) & 0x0f;
  if (device === selectors.network) return 'network';
  return device === selectors.disk ? 'disk' : null;
}
