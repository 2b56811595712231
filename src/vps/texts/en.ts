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
    subjectOff: '{{name}} goes to another host without some of its copies',
    soonOff: 'We move {{name}}, which is off, to another host in the next hours.',
    fromOff: 'We move {{name}}, which is off, to another host some time after {{at}}.',
    lost: 'Copies of {{name}} stay behind and are lost: snapshots: {{snapshots}}, backups: {{backups}}. Please save what you need of them before.',
    how: 'Its disk, addresses, keys and password go along.',
    howKept: 'Its disk, addresses, keys, password and backups go along.',
    long: 'How long it is off depends on how much is on its disk; we tell you when it is back.',
  },
  moveEnded: {
    moved: '{{name}} is on another host',
    stays: '{{name}} was not moved',
    same: '{{name}} has been moved, with its disk, its addresses and its access as they were.',
    nothing: '{{name}} could not be moved and is where it was. Nothing of it has changed.',
    ranOn: 'It was not shut down for that.',
    off: 'It was shut down at {{at}}.',
    away: 'It was shut down at {{at}} and answered again {{seconds}} seconds later.',
    late: 'It runs there and does not answer yet. We look at it.',
  },
} as const;
