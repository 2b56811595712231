import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  told: {
    subject: '{{title}}: {{number}}',
    what: '{{title}}, seit der letzten E-Mail dieser Art:',
    concern: '{{id}}: {{message}}',
    more: 'und {{number}} weitere',
    all: 'Alles, worum sich jemand kümmern muss, steht im Dashboard.',
    button: 'Alles ansehen',
  },
};
