/** What mails about machines say. */
export const en = {
  recovered: {
    subject: '{{name}} runs on another host, as of {{at}}',
    what: 'The host of {{name}} was lost. We have made {{name}} anew on another host, from its backup of {{at}}.',
    lost: 'What was written to its disk after that is gone. Please look at what your applications lack.',
    same: 'Its addresses are the same. Its keys and its password are those of that time.',
    look: 'See {{name}}',
  },
} as const;
