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
  movePlanned: {
    subject: '{{name}} zieht auf einen anderen Host um und ist solange aus',
    soon: 'Wir ziehen {{name}} auf einen anderen Host um. Dafür wird {{name}} in den nächsten Stunden heruntergefahren und startet dort von selbst wieder.',
    from: 'Wir ziehen {{name}} auf einen anderen Host um. Dafür wird {{name}} nach dem Zeitpunkt {{at}} heruntergefahren und startet dort von selbst wieder.',
    subjectOff: '{{name}} zieht ohne einige Kopien auf einen anderen Host um',
    soonOff:
      'Wir ziehen {{name}} in den nächsten Stunden auf einen anderen Host um; {{name}} ist aus und bleibt es.',
    fromOff:
      'Wir ziehen {{name}} nach dem Zeitpunkt {{at}} auf einen anderen Host um; {{name}} ist aus und bleibt es.',
    lost: 'Kopien von {{name}} bleiben zurück und sind verloren: Snapshots: {{snapshots}}, Backups: {{backups}}. Bitte sichern Sie vorher, was Sie davon brauchen.',
    how: 'Festplatte, Adressen, Schlüssel und Passwort ziehen mit um.',
    howKept: 'Festplatte, Adressen, Schlüssel, Passwort und Backups ziehen mit um.',
    long: 'Wie lange das dauert, hängt davon ab, wie viel auf der Festplatte liegt; wir sagen Ihnen, wenn der Umzug vorbei ist.',
  },
  moveEnded: {
    moved: '{{name}} ist auf einem anderen Host',
    stays: '{{name}} wurde nicht umgezogen',
    same: '{{name}} ist umgezogen, mit Festplatte, Adressen und Zugang wie zuvor.',
    nothing: '{{name}} konnte nicht umziehen und ist, wo es war. Daran hat sich nichts geändert.',
    ranOn: 'Dafür wurde nichts heruntergefahren.',
    off: 'Heruntergefahren wurde am {{at}}.',
    away: 'Heruntergefahren wurde am {{at}}, und {{seconds}} Sekunden später kam wieder eine Antwort.',
    late: 'Die Maschine läuft dort und antwortet noch nicht. Wir sehen nach.',
  },
};
