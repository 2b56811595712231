import { PaymentError, type Payments } from './contract.ts';

/** For a provider whose customers pay by bank transfer and from credit alone: it can nothing, and says so. */
export function noPayments(): Payments {
  const refuse = () => {
    throw new PaymentError('provider_missing', 'no payment provider is configured; set STRIPE_SECRET_KEY', {
      permanent: true,
    });
  };
  const refuseLater = async () => refuse();
  return {
    kind: 'none',
    isTest: false,
    capabilities: [],
    leastMinor: () => 1,
    openCustomer: refuseLater,
    openPaymentPage: refuseLater,
    openSavingPage: refuseLater,
    knowsCustomer: refuseLater,
    isCustomerOfTests: refuseLater,
    closePage: refuseLater,
    prepareCharge: refuseLater,
    confirmCharge: refuseLater,
    refund: refuseLater,
    forgetMethod: refuseLater,
    forgetCustomer: refuseLater,
    readEvent: refuse,
    look: refuseLater,
    eventsSince: refuseLater,
    close: async () => undefined,
  };
}
