import { describe, expect, it } from 'vitest';
import { type Baseline, differencesOf } from './compare.ts';

const baseline: Baseline = {
  ...{ firmware: '2.1', boot: 'uefi', bmc_firmware: '9.08' },
  disk_firmware: [{ model: 'A', version: '1' }],
  ...{ boot_order: ['network', 'disk'], bmc_users: [{ name: 'ADMIN', access: 'operator' }] },
  ...{ cipher_suites: [3, 17], services: ['HTTPS', 'IPMI'] },
};
const nothing: Baseline = {
  ...{ firmware: null, boot: null, bmc_firmware: null, disk_firmware: null, boot_order: null },
  ...{ bmc_users: null, cipher_suites: null, services: null },
};
const differs = (found: Partial<Baseline>) => differencesOf(baseline, { ...baseline, ...found });

describe('a server that differs from its baseline', () => {
  it('is told what differs, each in words', () => {
    expect(
      differencesOf(baseline, {
        ...{ firmware: '2.0', boot: 'bios', bmc_firmware: '9.07', boot_order: ['disk', 'network'] },
        disk_firmware: [
          { model: 'A', version: '2' },
          { model: 'B', version: '7' },
        ],
        bmc_users: [
          { name: 'ADMIN', access: 'administrator' },
          { name: 'theirs', access: 'user' },
        ],
        ...{ cipher_suites: [0, 3, 17], services: ['HTTPS', 'IPMI', 'SSH'] },
      }),
    ).toEqual([
      'its firmware is 2.0, and the baseline says 2.1',
      'it starts by BIOS, and the baseline says UEFI',
      'the firmware of its BMC is 9.07, and the baseline says 9.08',
      'a disk A has the firmware 2, and the baseline says 1',
      'its boot order is disk, network, and the baseline says network, disk',
      'the user ADMIN could sign in at its BMC as administrator, and the baseline says operator',
      'the user theirs could sign in at its BMC as user, and is not in the baseline',
      'its BMC opens the cipher suites 0, 3, 17, and the baseline says 3, 17',
      'its BMC offers HTTPS, IPMI, SSH, and the baseline says HTTPS, IPMI',
    ]);
  });

  it('does not by an order that says nothing, nor by users who were shut out or may do less', () => {
    expect(differs({ cipher_suites: [17, 3, 3], services: ['IPMI', 'HTTPS'] })).toEqual([]);
    expect(differs({ bmc_users: [] })).toEqual([]);
    expect(differs({ bmc_users: [{ name: 'ADMIN', access: 'user' }] })).toEqual([]);
  });

  it('does by a second account of a name that the baseline has once, and by one without a name', () => {
    const admin = { name: 'ADMIN', access: 'operator' } as const;
    expect(differs({ bmc_users: [admin, admin] })).toEqual([
      'the user ADMIN could sign in at its BMC as operator, and is not in the baseline',
    ]);
    expect(differs({ bmc_users: [{ name: '', access: 'operator' }] })).toEqual([
      'whoever gives no name could sign in at its BMC as operator, and is not in the baseline',
    ]);
  });

  it('is not known to where nobody can read it, and what a baseline leaves open may be anything', () => {
    expect(differencesOf(baseline, nothing)).toEqual([]);
    expect(differencesOf(nothing, baseline)).toEqual([]);
    expect(differs({ boot_order: [] })).toEqual([
      'its boot order is nothing, and the baseline says network, disk',
    ]);
  });

  it('is told no more than a person reads, however much its BMC says', () => {
    const users = Array.from({ length: 60 }, (_, at) => ({ name: `u${at}`, access: 'user' as const }));
    const found = differs({ bmc_users: users });
    expect(found).toHaveLength(41);
    expect(found.at(-1)).toBe('and 20 more');
  });
});
