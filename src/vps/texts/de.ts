import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  recovered: {
    subject: '{{name}} läuft auf einem anderen Host, mit dem Stand vom {{at}}',
    what: 'Der Host von {{name}} ist ausgefallen. Wir haben {{name}} auf einem anderen Host neu angelegt, aus dem Backup vom {{at}}.',
    lost: 'Was danach auf die Festplatte geschrieben wurde, ist verloren. Bitte sehen Sie nach, was Ihren Anwendungen fehlt.',
    same: 'Die Adressen sind dieselben. Schlüssel und Passwort sind die von damals.',
    look: '{{name}} ansehen',
  },
};
