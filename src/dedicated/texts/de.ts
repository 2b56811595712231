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
  outOfOrder: {
    subject: 'Der Server von {{name}} ist außer Betrieb',
    what: 'Wir haben festgestellt, dass der Server von {{name}} nicht in Ordnung ist. Sie können ihn vorerst nicht benutzen, und auf seiner Seite lässt sich nichts mit ihm tun.',
    taken: 'Der Server von {{name}} war nicht mehr zu benutzen, und wir haben ihn außer Betrieb genommen.',
    next: 'Wir bringen ihn in Ordnung oder geben Ihnen einen anderen derselben Art mit denselben Adressen. Sie hören wieder von uns, wenn Sie ihn benutzen können.',
    another:
      'Wir geben Ihnen einen anderen derselben Art. Sie hören wieder von uns, wenn Sie ihn benutzen können.',
    ticket:
      'Sie müssen nichts tun. Wenn Sie brauchen, was auf den Festplatten des Servers liegt, oder nicht warten können, schreiben Sie uns bitte ein Ticket.',
  },
  inOrder: {
    subject: 'Der Server von {{name}} ist wieder in Ordnung',
    what: 'Wir haben uns um den Server von {{name}} gekümmert: Er ist wieder in Ordnung.',
    start:
      'Möglicherweise war er zwischendurch ausgeschaltet: Bitte sehen Sie nach, ob bei Ihnen alles läuft. Ist er aus, können Sie ihn auf seiner Seite starten.',
    ticket: 'Wenn etwas nicht ist, wie es war, schreiben Sie uns bitte ein Ticket.',
  },
};
