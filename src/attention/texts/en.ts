/** What mails to the provider's own people say; the list of what needs them is in English throughout. */
export const en = {
  told: {
    subject: '{{title}}: {{number}}',
    what: '{{title}}, since the last mail of this kind:',
    concern: '{{id}}: {{message}}',
    more: 'and {{number}} more',
    all: 'The dashboard has all that needs a person.',
    button: 'See all of it',
  },
} as const;
