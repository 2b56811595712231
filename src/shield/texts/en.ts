/** What mails about attacks say. */
export const en = {
  attack: {
    subject: 'Attack on {{address}}: {{what}}',
    what: 'Since {{since}} more is sent to {{address}} than counts as usual there. It looks like this: {{what}}.',
    rate: 'It is {{pps}} packets and {{mbps}} megabits a second so far.',
    next: 'Rules of Shield for this address can drop it. We write again when it is over.',
  },
  over: {
    subject: 'The attack on {{address}} is over',
    what: 'From {{since}} until {{until}} there was an attack on {{address}}: {{what}}.',
    rate: 'It was {{pps}} packets and {{mbps}} megabits a second at most, {{volume}} megabytes in all.',
  },
} as const;
