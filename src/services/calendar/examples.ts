import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

const step = {
  on: '2026-02-14',
  step: 'invoice',
  service: {
    id: ids.service,
    product: 'VPS',
    hostname: 'web1.example.com',
    status: 'active',
    duedate: '2026-02-28',
    price: '9.00',
    currency: 'EUR',
  },
  organization_id: ids.organization,
  invoice_id: null,
  promised_until: null,
  problem: null,
};

const preview = {
  from: '2026-01-31',
  until: '2026-03-02',
  counts: { invoice: 1, reminder: 1, charge: 1 },
  steps: [
    step,
    { ...step, on: '2026-02-25', step: 'reminder' },
    { ...step, on: '2026-02-28', step: 'charge' },
  ],
  next_cursor: null,
};

const ofService = {
  organization_id: ids.organization,
  service_id: ids.service,
  until: '2126-03-20',
  note: 'By telephone',
};

export const examples = {
  previewCalendar: { data: preview },
  previewChangedCalendar: { body: { calendar: { suspend_days_after: 21 } }, data: preview },
  promisePaymentOfService: {
    params: { id: ids.service },
    body: { until: '2126-03-20', note: 'By telephone' },
    data: { promise: ofService },
  },
  getPaymentPromise: {
    params: { id: ids.service },
    data: { promise: { service_id: ids.service, until: ofService.until } },
  },
  getPromiseOfService: { params: { id: ids.service }, data: { promise: ofService } },
  getPromiseOfOrganization: { params: { id: ids.organization }, data: { promise: null } },
  promisePaymentOfOrganization: {
    params: { id: ids.organization },
    body: { until: null },
    data: { promise: null },
  },
} satisfies Record<string, Example>;
