import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  paused: {
    subject: 'Ihre Webhooks sind angehalten',
    what: 'Seit {{since}} wurde nichts mehr angenommen, was wir an {{url}} gesendet haben. Wir versuchen es daher vorerst nicht weiter.',
    last: 'Die letzte Antwort: {{reason}}',
    next: 'Was in der Zwischenzeit geschieht, bleibt dreißig Tage lang gespeichert. Sobald die Adresse wieder Webhooks annimmt, schalten Sie den Webhook wieder ein; dann wird alles gesendet.',
    button: 'Webhook ansehen',
  },
};
