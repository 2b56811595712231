import { type Example, onlyPage } from '../platform/http/index.ts';

const product = {
  id: 1,
  type: 'Hosting',
  moduleId: 2,
  name: 'VPS',
  description: 'A virtual server of the size you choose, running within a minute.',
  group: { id: 1, name: 'Virtual servers' },
  stock: null,
  servers: null,
  traffic: null,
  prices: [
    { cycle: 'monthly', price: '4.00', setup_fee: '0.00', currency: 'EUR' },
    { cycle: 'quarterly', price: '12.00', setup_fee: '0.00', currency: 'EUR' },
    { cycle: 'annually', price: '40.00', setup_fee: '0.00', currency: 'EUR' },
  ],
  options: [
    {
      key: 'option1',
      name: 'memory_gb',
      label: 'Memory (GB)',
      kind: 'integer',
      min: 1,
      max: 8,
      step: 1,
      values: [],
      unit_price: '2.00',
      required: true,
    },
    {
      key: 'option2',
      name: 'storage_gb',
      label: 'Storage (GB)',
      kind: 'integer',
      min: 10,
      max: 100,
      step: 1,
      values: [],
      unit_price: '0.10',
      required: true,
    },
    {
      key: 'option3',
      name: 'cpu_cores',
      label: 'CPU cores',
      kind: 'integer',
      min: 1,
      max: 4,
      step: 1,
      values: [],
      unit_price: '1.50',
      required: true,
    },
    {
      key: 'option4',
      name: 'ipv4_count',
      label: 'IPv4 addresses',
      kind: 'integer',
      min: 1,
      max: 2,
      step: 1,
      values: [],
      unit_price: '1.00',
      required: true,
    },
    {
      key: 'option5',
      name: 'ipv6_count',
      label: 'IPv6 addresses',
      kind: 'integer',
      min: 0,
      max: 1,
      step: 1,
      values: [],
      unit_price: '0.00',
      required: true,
    },
    {
      key: 'option6',
      name: 'operating_system',
      label: 'Operating system',
      kind: 'choice',
      min: null,
      max: null,
      step: null,
      values: [
        { value: 'debian', label: 'Debian 12', price: '0.00' },
        { value: 'tiny', label: 'Tiny Linux', price: '0.00' },
      ],
      unit_price: null,
      required: true,
    },
    {
      key: 'option7',
      name: 'port_speed',
      label: 'Port speed',
      kind: 'choice',
      min: null,
      max: null,
      step: null,
      values: [{ value: '1gbit', label: '1 Gbit/s', price: '0.00' }],
      unit_price: null,
      required: true,
    },
    {
      key: 'option8',
      name: 'location',
      label: 'Location',
      kind: 'choice',
      min: null,
      max: null,
      step: null,
      values: [{ value: 'AMS', label: 'AMS', price: '0.00' }],
      unit_price: null,
      required: true,
    },
  ],
};

const smallest = {
  ...{ option1: 1, option2: 10, option3: 1, option4: 1, option5: 0 },
  ...{ option6: 'debian', option7: '1gbit', option8: 'AMS' },
};

const asStaff = { status: 'active', downgrade: 'now', position: 1, retired_options: [] };

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  listProducts: {
    query: { limit: 1 },
    data: { products: [product], pages: 4, current_page: 1, entries: 1, total: 4, next_cursor: 'WzFd' },
  },
  getProduct: { params: { id: 1 }, data: { product: product } },
  getProductAsStaff: {
    params: { id: 1 },
    data: { product: { ...product, ...asStaff } },
  },
  createProduct: {
    body: {
      type: 'Hosting',
      moduleId: 3,
      group_id: 3,
      name: 'Web hosting, large',
      currency: 'EUR',
      prices: [{ cycle: 'monthly', price: '9.00' }],
      options: [
        {
          ...{ key: 'option2', name: 'storage_gb', label: 'Storage (GB)' },
          ...{ min: 10, max: 100, unit_price: '0.10' },
        },
      ],
    },
    data: {
      product: {
        id: 5,
        type: 'Hosting',
        moduleId: 3,
        name: 'Web hosting, large',
        description: '',
        group: { id: 3, name: 'Web hosting' },
        stock: null,
        servers: null,
        traffic: null,
        prices: [{ cycle: 'monthly', price: '9.00', setup_fee: '0.00', currency: 'EUR' }],
        options: [
          {
            ...{ key: 'option2', name: 'storage_gb', label: 'Storage (GB)', kind: 'integer' },
            ...{ min: 10, max: 100, step: 1, values: [], unit_price: '0.10', required: true },
          },
        ],
        ...{ status: 'hidden', downgrade: 'now', position: 2, retired_options: [] },
      },
    },
  },
  updateProduct: {
    params: { id: 1 },
    body: { stock: 50, prices: [{ cycle: 'monthly', price: '4.50' }] },
    data: {
      product: {
        ...product,
        stock: 50,
        prices: [
          { cycle: 'monthly', price: '4.50', setup_fee: '0.00', currency: 'EUR' },
          { cycle: 'quarterly', price: '12.00', setup_fee: '0.00', currency: 'EUR' },
          { cycle: 'annually', price: '40.00', setup_fee: '0.00', currency: 'EUR' },
        ],
        ...asStaff,
      },
    },
  },
  previewProduct: {
    params: { id: 1 },
    body: {
      prices: [{ cycle: 'monthly', price: '4.50' }],
      order: { cycle: 'monthly', options: smallest },
    },
    data: {
      product: {
        ...product,
        prices: [
          { cycle: 'monthly', price: '4.50', setup_fee: '0.00', currency: 'EUR' },
          { cycle: 'quarterly', price: '12.00', setup_fee: '0.00', currency: 'EUR' },
          { cycle: 'annually', price: '40.00', setup_fee: '0.00', currency: 'EUR' },
        ],
        ...asStaff,
      },
      order: { cycle: 'monthly', price: '4.50', setup_fee: '0.00', currency: 'EUR' },
      having: {
        services: 2,
        differing: 1,
        cycles: [{ cycle: 'monthly', services: 1, price_before: '7.00', price_after: '7.50' }],
      },
    },
  },
  listProductsAsStaff: {
    query: { search: 'vps', status: 'active' },
    data: { products: [{ ...product, ...asStaff }], ...onlyPage(1) },
  },
} satisfies Record<string, Example>;
