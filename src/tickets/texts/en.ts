/** What mails about tickets say. */
export const en = {
  department: {
    subjectNew: '[{{tid}}] New ticket: {{subject}}',
    subject: '[{{tid}}] {{subject}}',
    opened: '{{from}} opened the ticket {{tid}}: "{{subject}}".',
    wrote: '{{from}} wrote in the ticket {{tid}}: "{{subject}}".',
    next: 'Read and answer {{tid}} in the dashboard.',
    button: 'Read and answer',
  },
  answered: {
    subject: '[{{tid}}] {{subject}}',
    what: 'We answered your ticket {{tid}}, "{{subject}}".',
    next: 'You find the answer in the dashboard, among your tickets, and can write back there.',
    button: 'Read the answer',
    nextByMail:
      'You find the answer in the dashboard, among your tickets. Write back there, or by answering this mail.',
  },
  attachments: {
    with: 'These files are with it:',
  },
  closed: {
    subject: '[{{tid}}] {{subject}}',
    what: 'Your ticket {{tid}}, "{{subject}}", is closed.',
    ask: 'Did it help? Tell us by one click.',
    button: 'Say whether it helped',
    see: 'See the ticket',
    next: 'If something is still open, write a reply to it in the dashboard: that opens it again.',
    nextByMail:
      'If something is still open, answer this mail or write in the dashboard: that opens it again.',
  },
} as const;
