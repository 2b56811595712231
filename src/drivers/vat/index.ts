/**
 * Registers of VAT ids. One contract (`contract.ts`), two engines that keep it, and the suite that both of them pass
 * (`conformance.ts`): `noVatRegister` where staff looks ids up by hand, `vies` for the European Union's register.
 */
export * from './contract.ts';
export { noVatRegister } from './none.ts';
export { type ViesOptions, vies } from './vies.ts';
