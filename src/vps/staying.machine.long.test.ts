import { describeStaying } from '../../test/staying.ts';
import { reasonToSkip } from '../drivers/hypervisor/qemu/testbed.ts';

const skip = await reasonToSkip('tiny');
if (skip !== null) console.warn(`What stays on a real machine is not tested: ${skip}`);

const nameservers = 'cat /etc/resolv.conf';
const tiny = {
  os: 'tiny',
  recipe: 'tiny',
  nameservers,
  takesUserData: false,
  bridge: 'ikstay',
  network: 83,
  options: {},
};
describeStaying(tiny, skip);
