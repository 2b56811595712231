import type { Schema } from '../../../client/index.ts';
import { useText } from '../text/index.ts';

/** What an invoice is called: its number, or that it has none yet. */
export function useInvoiceName(): (
  invoice: Pick<Schema<'Invoice'>, 'id' | 'number' | 'corrects_invoice_id'>,
) => string {
  const { t } = useText();
  return ({ id, number, corrects_invoice_id }) => {
    if (number === null) return t('billing.unnumbered', { id });
    return t(corrects_invoice_id === null ? 'billing.invoice' : 'billing.creditNote', { number });
  };
}
