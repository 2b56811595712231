import { describeReverseDns } from './conformance.ts';
import { databaseDns } from './index.ts';

for (const [name, dns] of [
  ['the database', databaseDns()],
  ['a database without IPv6', databaseDns({ capabilities: [] })],
] as const)
  describeReverseDns(name, async () => ({
    dns,
    address4: '192.0.2.7',
    address6: '2001:db8::7',
    ask: null,
    close: async () => undefined,
  }));
