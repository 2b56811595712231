import { describeStaying } from '../../test/staying.ts';
import { reasonToSkip } from '../drivers/hypervisor/qemu/testbed.ts';

const skip = await reasonToSkip('debian-12');
if (skip !== null) console.warn(`What stays on a Debian machine is not tested: ${skip}`);

const nameservers = 'cat /run/systemd/resolve/resolv.conf';
const debian = {
  os: 'debian',
  recipe: 'debian-12',
  nameservers,
  takesUserData: true,
  bridge: 'ikstayd',
  network: 84,
  options: {},
};
describeStaying(debian, skip);
