/** What mails about dedicated servers say. */
export const en = {
  moved: {
    subject: '{{name}} is another server now',
    what: 'We have replaced the server of {{name}} by another one of its kind. It has the same addresses with their names, the same operating system, the same hostname and the same SSH keys.',
    lost: 'What was on the disks did not go along: the system on the new server is freshly installed. User data for cloud-init of an earlier installation, which we do not keep, was not run again. Please restore your data from your backups. The disks of the server before are wiped.',
    password: 'There is a new password. It is shown once, on the page of the server.',
    look: 'See {{name}}',
  },
} as const;
