import type { Example } from '../platform/http/index.ts';

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  listMails: {
    query: { recipient: 'ada@example.com' },
    data: {
      mails: [
        {
          id: 4503599627370614,
          recipient: 'ada@example.com',
          subject: 'Payment received for invoice 4503599627370302',
          body: 'Hello Ada,\n\nWe received 7.50 EUR for invoice 4503599627370302. Thank you.\n\nhttp://localhost:0\n',
          state: 'kept',
          error: null,
          created_at: '2026-01-31T22:04:15.747Z',
          sent_at: null,
        },
      ],
      pages: 1,
      current_page: 1,
      entries: 1,
      total: 1,
      next_cursor: null,
    },
  },
} satisfies Record<string, Example>;
