import { describeReverseDns } from './conformance.ts';
import { databaseDns } from './index.ts';

describeReverseDns('the database', async () => ({
  dns: databaseDns(),
  address4: '192.0.2.7',
  address6: '2001:db8::7',
  ask: null,
  close: async () => undefined,
}));
