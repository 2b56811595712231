import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  moved: {
    subject: '{{name}} ist jetzt ein anderer Server',
    what: 'Wir haben den Server von {{name}} durch einen anderen derselben Art ersetzt. Er hat dieselben Adressen mit ihren Namen, dasselbe Betriebssystem, denselben Hostnamen und dieselben SSH-Schlüssel.',
    lost: 'Was auf den Festplatten lag, ist nicht mit umgezogen: Das System auf dem neuen Server ist frisch installiert. User-Data für cloud-init aus einer früheren Installation bewahren wir nicht auf; sie wurden nicht erneut ausgeführt. Bitte stellen Sie Ihre Daten aus Ihren Backups wieder her. Die Festplatten des bisherigen Servers werden gelöscht.',
    password: 'Es gibt ein neues Passwort. Es wird einmal angezeigt, auf der Seite des Servers.',
    look: '{{name}} ansehen',
  },
};
