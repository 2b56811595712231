import type { Example } from '../platform/http/index.ts';

const paymentMail = {
  id: 4503599627370614,
  recipient: 'ada@example.com',
  subject: 'Payment received for invoice 4503599627370302',
  body: 'Hello Ada,\n\nWe received €7.50 for invoice 4503599627370302. Thank you.\n\n-- \nInnkeeper\nhttp://localhost:0\n',
  event: 'invoice.paid',
  language: 'en',
  state: 'kept',
  error: null,
  answer: null,
  sendings: 1,
  address_bounced_at: null,
  created_at: '2026-01-31T22:04:15.747Z',
  sent_at: null,
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  followEvents: { data: null },
  followAllEvents: { data: null },
  listAudit: {
    query: { subject_type: 'user', subject_id: 4503599627370601, limit: 1 },
    data: {
      audit_entries: [
        {
          id: 1204,
          action: 'account.corrected',
          description: 'Staff corrected what an account says of its person',
          organization_id: null,
          organization: null,
          subject: { type: 'user', id: 4503599627370601, name: 'ada@example.com' },
          actor: {
            type: 'staff',
            user_id: 4503599627370702,
            email: 'sam@example.com',
            api_key_id: null,
            ip: '192.0.2.10',
          },
          request_id: '04dK.X.G9B_9-2b',
          data: { user_id: 4503599627370601, fields: ['last_name'] },
          created_at: '2026-01-31T22:12:15.747Z',
        },
      ],
      pages: 1,
      current_page: 1,
      entries: 1,
      total: 1,
      next_cursor: null,
      kept_since: null,
    },
  },
  getMail: { params: { id: 4503599627370614 }, data: { mail: paymentMail } },
  sendMailAgain: {
    params: { id: 4503599627370614 },
    data: { mail: { ...paymentMail, state: 'queued', sendings: 2 } },
  },
  listMails: {
    query: { recipient: 'ada@example.com' },
    data: {
      mails: [paymentMail],
      pages: 1,
      current_page: 1,
      entries: 1,
      total: 1,
      next_cursor: null,
    },
  },
} satisfies Record<string, Example>;
