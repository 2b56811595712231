import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  department: {
    subjectNew: '[{{tid}}] Neues Ticket: {{subject}}',
    subject: '[{{tid}}] {{subject}}',
    opened: '{{from}} hat das Ticket {{tid}} eröffnet: „{{subject}}“.',
    wrote: '{{from}} hat im Ticket {{tid}} geschrieben: „{{subject}}“.',
    next: 'Lesen und beantworten Sie {{tid}} im Dashboard.',
    button: 'Lesen und antworten',
  },
  answered: {
    subject: '[{{tid}}] {{subject}}',
    what: 'Wir haben Ihr Ticket {{tid}}, „{{subject}}“, beantwortet.',
    button: 'Antwort lesen',
    next: 'Die Antwort finden Sie im Dashboard unter Ihren Tickets; dort können Sie auch zurückschreiben.',
    nextByMail:
      'Die Antwort finden Sie im Dashboard unter Ihren Tickets. Schreiben Sie dort zurück oder antworten Sie auf diese Mail.',
  },
  attachments: {
    with: 'Diese Dateien gehören dazu:',
  },
  closed: {
    subject: '[{{tid}}] {{subject}}',
    what: 'Ihr Ticket {{tid}}, „{{subject}}“, ist geschlossen.',
    ask: 'Hat es geholfen? Ein Klick genügt.',
    button: 'Sagen, ob es geholfen hat',
    see: 'Ticket ansehen',
    next: 'Wenn noch etwas offen ist, antworten Sie im Dashboard darauf: Damit ist es wieder offen.',
    nextByMail:
      'Wenn noch etwas offen ist, antworten Sie auf diese Mail oder im Dashboard: Damit ist es wieder offen.',
  },
};
