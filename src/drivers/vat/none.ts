import { splitVatId, VatError, type VatRegister } from './contract.ts';

/** The embedded default: nobody is asked, so ids stay unknown until staff says what they are. */
export function noVatRegister(): VatRegister {
  return {
    kind: 'none',
    capabilities: [],
    async check(vatId) {
      splitVatId(vatId);
      throw new VatError('not_supported', 'no register of VAT ids is set; see VAT', { permanent: true });
    },
  };
}
