import { describeVatRegister } from './conformance.ts';
import { noVatRegister } from './index.ts';

describeVatRegister('no register', async () => ({
  register: noVatRegister(),
  known: 'DE136695976',
  unknown: 'ATU12345675',
  requester: 'NL004495445B01',
  close: async () => undefined,
}));
