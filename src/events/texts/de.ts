import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  frame: {
    greeting: 'Guten Tag {{name}},',
    greetingToNobody: 'Guten Tag,',
    why: 'Sie erhalten diese E-Mail, weil Sie ein Konto bei {{company}} haben.',
    whyNotify:
      'Sie erhalten diese E-Mail, weil Sie über solche Dinge benachrichtigt werden möchten. So erhalten Sie keine weiteren dieser Art:',
    unsubscribe: 'Abbestellen',
  },
};
