/** What mails to the provider's own people say; the list of what needs them is in English throughout. */
export const en = {
  told: {
    subject: '{{title}}: {{number}}',
    what: '{{title}}, since the last mail of this kind:',
    concern: '{{id}}: {{message}}',
    more: 'and {{number}} more',
    all: 'All that needs a person: GET /api/staff/attention',
  },
} as const;
