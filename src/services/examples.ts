import { type Example, exampleIds as ids, onlyPage } from '../platform/http/index.ts';

const possible = { allowed: true, reason: null, code: null };

/** The VPS of the story. */
export const service = {
  id: ids.service,
  type: 'vps',
  on_server: false,
  domain: 'web1.example.com',
  hostname: 'web1.example.com',
  status: 'active',
  provisioning_state: 'done',
  waiting: [],
  invoice_id: ids.invoice,
  suspend_reason: null,
  suspended_at: null,
  billingCycle: 'monthly',
  cancelled: false,
  end_reason: null,
  created_at: '2026-01-31T22:02:14.412Z',
  firstPrice: '7.00',
  price: '7.00',
  currency: 'EUR',
  duedate: '2026-02-28',
  promised_until: null,
  note: null,
  auto_renew: true,
  primary_ip: '10.77.0.2',
  options: {
    option1: 2,
    option2: 20,
    option3: 1,
    option4: 1,
    option5: 1,
    option6: 'debian',
    option7: '1gbit',
    option8: 'AMS',
  },
  coming_price: null,
  product: {
    id: 1,
    name: 'VPS',
    description: 'A virtual server of the size you choose, running within a minute.',
    price: '4.00',
    group: { id: 1, name: 'Virtual servers' },
  },
  actions: {
    renew: possible,
    upgrade: possible,
    upgrade_vps: possible,
    cancel: possible,
    revoke_cancel: {
      allowed: false,
      reason: 'The service is not going to end, so there is no cancellation to take back',
      code: 'conflict',
    },
    auto_renew: possible,
    move: possible,
    note: possible,
  },
};

export const hosting = {
  ...service,
  id: ids.secondService,
  type: 'hosting',
  domain: null,
  hostname: null,
  firstPrice: '3.00',
  price: '3.00',
  primary_ip: null,
  options: {},
  product: {
    id: 3,
    name: 'Web hosting',
    description: 'Space for a web site and its mail.',
    price: '3.00',
    group: { id: 3, name: 'Web hosting' },
  },
  actions: {
    ...service.actions,
    upgrade_vps: { allowed: false, reason: 'This service is not a VPS', code: 'not_a_vps' },
  },
};

const forStaff = {
  ...service,
  organization: { id: ids.organization, name: 'Novak Labs' },
  user_id: 4503599627370601,
  node_id: 1,
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  getServiceDetails: { params: { id: ids.service }, data: { service: service } },
  updateService: {
    params: { id: ids.service },
    body: { auto_renew: false },
    data: { service: { ...service, auto_renew: false } },
  },
  getServiceNote: { params: { id: ids.service }, data: { service } },
  updateServiceNote: {
    params: { id: ids.service },
    body: { note: 'Our shop' },
    data: { service: { ...service, auto_renew: false, note: 'Our shop' } },
  },
  listServices: { query: { status: 'active' }, data: { services: [service], ...onlyPage(1) } },
  retryServiceDelivery: { params: { id: ids.secondService }, data: { retried: true } },
  deliverServiceByHand: { params: { id: ids.secondService }, data: { service: hosting } },
  listServicesAsStaff: {
    query: { organization_id: ids.organization, search: 'web1' },
    data: { services: [forStaff], ...onlyPage(1) },
  },
  getServiceAsStaff: { params: { id: ids.service }, data: { service: forStaff } },
} satisfies Record<string, Example>;
