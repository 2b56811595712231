/**
 * Names of addresses. One contract (`contract.ts`), two engines that keep it, and the suite that both of them
 * pass (`conformance.ts`): `databaseDns` for a provider whose names live in the product alone, `powerDns` for
 * one who runs an authoritative server.
 */
export * from './contract.ts';
export { databaseDns } from './database.ts';
export { type PowerDnsOptions, powerDns } from './powerdns.ts';
