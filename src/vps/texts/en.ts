/** What mails about machines say. */
export const en = {
  recovered: {
    subject: '{{name}} runs on another host, as of {{at}}',
    what: 'The host of {{name}} was lost. We have made {{name}} anew on another host, from its backup of {{at}}.',
    lost: 'What was written to its disk after that is gone. Please look at what your applications lack.',
    same: 'Its addresses are the same. Its keys and its password are those of that time.',
    look: 'See {{name}}',
  },
  movePlanned: {
    subject: '{{name}} goes to another host and is off for a while',
    soon: 'We move {{name}} to another host. It is shut down for that in the next hours and starts again there by itself.',
    from: 'We move {{name}} to another host. It is shut down for that some time after {{at}} and starts again there by itself.',
    how: 'Its disk, addresses, keys, password and backups go along. How long it is off depends on how much is on its disk; we tell you when it is back.',
  },
  moveEnded: {
    moved: '{{name}} runs on another host',
    stays: '{{name}} was not moved',
    same: '{{name}} has been moved, with its disk, its addresses and its access as they were.',
    nothing: '{{name}} could not be moved and is where it was. Nothing of it has changed.',
    ranOn: 'It was not shut down for that.',
    off: 'It was shut down at {{at}}.',
    away: 'It was shut down at {{at}} and answered again {{seconds}} seconds later.',
  },
} as const;
