const service = { kind: 'service', id: '4503599627370449', title: 'web1.example.com', status: 'active' };

export const examples = {
  search: { query: { q: 'web1' }, data: { found: [{ ...service, detail: '203.0.113.7' }] } },
  searchAsStaff: {
    query: { q: 'web1' },
    data: { found: [{ ...service, detail: '203.0.113.7 · Example Hosting' }] },
  },
};
