import { expect, it } from 'vitest';
import { runAsRoot } from '../../../platform/host/program.ts';
import { whyNoNftables } from './usable.ts';

const isRoot = process.getuid?.() === 0;

it('nftables can be used here, and trying that out leaves nothing behind', async () => {
  expect(await whyNoNftables()).toBeNull();
  expect((await runAsRoot(['nft', 'list', 'tables'])).stdout).not.toContain('probe');
});

it('without the program it cannot, which is said', async () => {
  expect(await whyNoNftables((argv) => ['env', 'PATH=/nowhere', ...argv])).toMatch(/no program nft.*Debian/);
});

it.runIf(isRoot)('without the right to it cannot, which is said', async () => {
  const reason = await whyNoNftables((argv) => ['setpriv', '--bounding-set', '-net_admin', ...argv]);
  expect(reason).toMatch(/CAP_NET_ADMIN/);
});
