/** What mails about webhooks say. */
export const en = {
  paused: {
    subject: 'Your webhooks are paused',
    what: 'Nothing that we sent to {{url}} was taken since {{since}}, so we have stopped trying.',
    last: 'What came back last: {{reason}}',
    next: 'What happens meanwhile is kept for thirty days. Once the address takes webhooks again, switch it on again, and all of it is sent.',
    button: 'See the webhook',
  },
} as const;
