import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ToldIpmitool, toldIpmitool } from '../../../../test/rack/toldIpmitool.ts';
import type { Bmc } from '../contract.ts';
import { openBmcs } from '../open.ts';

let ipmitool: ToldIpmitool;
beforeEach(() => {
  ipmitool = toldIpmitool();
});
afterEach(() => ipmitool.close());

let made = 0;
/** Which suite a BMC knows is kept by its address, so that each test has its own. */
function newBmc(): Bmc {
  made += 1;
  return openBmcs({ ipmi: { env: { PATH: `${ipmitool.dir}:${process.env.PATH}` } } })({
    ...{ kind: 'ipmi', address: `198.51.100.${made}`, user: 'root', password: 'canary-word-1' },
  });
}

it('cipher suite 17 is spoken where a BMC knows it, and no other is asked for', async () => {
  const bmc = newBmc();
  expect(await bmc.readPower()).toBe('on');
  expect(await bmc.readPower()).toBe('on');
  expect(ipmitool.suites()).toEqual([17, 17]);
});

it('one that knows no 17 is spoken to by 3, and is not asked for 17 again', async () => {
  ipmitool.knows(3);
  const bmc = newBmc();
  expect(await bmc.readPower()).toBe('on');
  expect(await bmc.readPower()).toBe('on');
  expect(ipmitool.suites()).toEqual([17, 3, 3]);
});

it('one that knows neither is refused in words, and is never spoken to by a suite without a password', async () => {
  ipmitool.knows(0, 1, 2, 8);
  await expect(newBmc().readPower()).rejects.toMatchObject({
    ...{ code: 'bmc_refused', message: expect.stringMatching(/none of our cipher suites/) },
  });
  expect(ipmitool.suites()).toEqual([17, 3]);
});

it('one in whose place another stands that knows other suites is asked anew, the newest first', async () => {
  ipmitool.knows(3);
  const bmc = newBmc();
  await bmc.readPower();
  ipmitool.knows(17);
  await expect(bmc.readPower()).rejects.toMatchObject({ code: 'bmc_refused' });
  ipmitool.forget();
  expect(await bmc.readPower()).toBe('on');
  expect(ipmitool.suites()).toEqual([17]);
});

it('a wrong password is told as that, and no older suite is tried with it', async () => {
  ipmitool.letsIn('another-1');
  const error = await newBmc()
    .readPower()
    .catch((failure: Error) => failure);
  expect(error).toMatchObject({ code: 'sign_in_refused' });
  expect(ipmitool.suites()).toEqual([17]);
});

it('no error repeats the password, whatever was printed with it', async () => {
  const bmc = newBmc();
  const said: unknown[] = [];
  const keep = (failure: Error) => said.push(failure.message, failure.stack, failure.cause);
  await bmc.setNextBoot(null).catch(keep);
  ipmitool.knows(8);
  await newBmc().readPower().catch(keep);
  ipmitool.knows(17);
  ipmitool.letsIn('another-1');
  await newBmc().readPower().catch(keep);
  expect(said.length).toBe(9);
  expect(said.map(String).join('\n')).not.toContain('canary-word-1');
});
