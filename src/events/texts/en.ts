/** What stands around every mail. */
export const en = {
  frame: {
    greeting: 'Hello {{name}},',
    greetingToNobody: 'Hello,',
    why: 'You get this mail because you have an account with {{company}}.',
    whyNotify: 'You get this mail because you want to be told of such things. To get no more of this kind:',
    unsubscribe: 'Unsubscribe',
  },
} as const;
