import { refuse } from '../../platform/index.ts';
import type { Baseline } from './compare.ts';

/** The parts that staff has written, as a whole; `invalid_request` where none of them says anything. */
export function wholeBaseline(said: { [part in keyof Baseline]?: Baseline[part] | undefined }): Baseline {
  const whole: Baseline = {
    ...{ firmware: said.firmware ?? null, boot: said.boot ?? null, bmc_firmware: said.bmc_firmware ?? null },
    ...{ disk_firmware: said.disk_firmware ?? null, boot_order: said.boot_order ?? null },
    ...{ bmc_users: said.bmc_users ?? null, cipher_suites: said.cipher_suites ?? null },
    services: said.services ?? null,
  };
  if (Object.values(whole).every((part) => part === null))
    throw refuse('baseline', 'must say something: null compares nothing');
  return whole;
}
