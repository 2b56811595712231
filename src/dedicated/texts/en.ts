/** What mails about dedicated servers say. */
export const en = {
  moved: {
    subject: '{{name}} is another server now',
    what: 'We have replaced the server of {{name}} by another one of its kind. It has the same addresses with their names, the same operating system, the same hostname and the same SSH keys.',
    lost: 'What was on the disks did not go along: the system on the new server is freshly installed. User data for cloud-init of an earlier installation, which we do not keep, was not run again. Please restore your data from your backups. The disks of the server before are wiped.',
    password: 'There is a new password. It is shown once, on the page of the server.',
    look: 'See {{name}}',
  },
  outOfOrder: {
    subject: 'The server of {{name}} is out of order',
    what: 'We have found that the server of {{name}} is out of order. For the time being you cannot use it, and nothing can be done with it on its page.',
    taken: 'The server of {{name}} could not be used any more, and we have taken it out of service.',
    next: 'Our staff puts it right, or gives you another one of its kind with the same addresses. You hear from us again when you can use it.',
    another: 'Our staff gives you another one of its kind. You hear from us again when you can use it.',
    ticket:
      'There is nothing that you have to do. If you need what is on the disks of the server, or cannot wait, please write us a ticket.',
  },
  inOrder: {
    subject: 'The server of {{name}} is in order again',
    what: 'Our staff has seen to the server of {{name}}: it is in order again.',
    start:
      'It may have been off meanwhile: please look whether everything of yours runs. Where it is off, you can start it on its page.',
    ticket: 'If something is not as it was, please write us a ticket.',
  },
} as const;
