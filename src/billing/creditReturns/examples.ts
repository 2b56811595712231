import { type Example, exampleIds as ids, onlyPage } from '../../platform/http/index.ts';

const creditReturn = {
  id: 4503599627370816,
  organization: { id: ids.organization, name: 'Novak Labs' },
  amount: '12.50',
  currency: 'EUR',
  reason: 'You close your account',
  state: 'open',
  paid_on: null,
  created_at: '2026-02-02T10:12:10.120Z',
  decided_at: null,
};
const decided_at = '2026-02-03T09:00:10.120Z';

export const examples = {
  returnCredit: {
    params: { id: ids.organization },
    body: { currency: 'EUR', reason: 'You close your account' },
    data: {
      ...{ dry_run: false, amount: '12.50', currency: 'EUR', credit_balance: '15.00', returnable: '12.50' },
      credit_return: creditReturn,
    },
  },
  listCreditReturns: { data: { credit_returns: [creditReturn], ...onlyPage(1) } },
  getCreditReturn: { params: { id: creditReturn.id }, data: { credit_return: creditReturn } },
  finishCreditReturn: {
    params: { id: creditReturn.id },
    body: { paid_on: '2026-02-03' },
    data: { credit_return: { ...creditReturn, state: 'done', paid_on: '2026-02-03', decided_at } },
  },
  cancelCreditReturn: {
    params: { id: creditReturn.id },
    body: { reason: 'The account number was wrong' },
    data: { credit_return: { ...creditReturn, state: 'cancelled', decided_at } },
  },
} satisfies Record<string, Example>;
