import { type Example, onlyPage } from '../../platform/http/index.ts';

const method = {
  id: 4503599627370721,
  type: 'card',
  brand: 'visa',
  last4: '4242',
  expires_month: 12,
  expires_year: 2034,
  is_default: true,
  created_at: '2026-01-31T22:09:11.120Z',
};

export const examples = {
  listPaymentMethods: { data: { payment_methods: [method], ...onlyPage(1) } },
  getPaymentMethod: { params: { id: method.id }, data: { payment_method: method } },
  addPaymentMethod: {
    data: {
      redirect_url:
        'https://panel.example.com/api/payment-pages/method-1-4503599627370722-1769983751120.Yw3bB1m0u4y8uX2mGm2vX0bY3r0f3nO1o9C1T8kq0aE',
      expires_at: '2026-02-01T22:09:11.120Z',
    },
  },
  changePaymentMethod: {
    params: { id: method.id },
    body: { is_default: true },
    data: { payment_method: method },
  },
  removePaymentMethod: { params: { id: method.id }, data: { deleted: true } },
} satisfies Record<string, Example>;
