import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  shared: {
    ifNotAsked:
      'Wenn Sie das nicht veranlasst haben, brauchen Sie nichts zu tun: Ohne den Link geschieht nichts.',
    ifNotYouPassword:
      'Wenn Sie das nicht waren, kennt jemand Ihr Passwort: Setzen Sie ein neues – damit enden alle Sitzungen – und wenden Sie sich an unseren Support.',
    setPassword: 'Neues Passwort setzen',
    seeKeys: 'API-Schlüssel ansehen',
    confirmAddress: 'Adresse bestätigen',
  },
  keyMade: {
    subject: 'Für Sie wurde ein API-Schlüssel angelegt',
    what: 'Jemand anderes hat einen API-Schlüssel für Ihr Konto angelegt: „{{name}}“, {{prefix}}…, Nummer {{id}}.',
    next: 'Wer ihn besitzt, kann damit alles tun, was auch Sie damit tun können. Wenn Sie nicht darum gebeten haben, widerrufen Sie ihn und fragen Sie nach, wer ihn angelegt hat.',
  },
  keyOwn: {
    subject: 'Ihr Konto hat einen neuen API-Schlüssel',
    what: 'In Ihrem Konto wurde ein API-Schlüssel angelegt: „{{name}}“, {{prefix}}…. Wer ihn besitzt, kann damit tun, wofür er gedacht ist.',
    next: 'Wenn Sie das nicht waren, widerrufen Sie ihn, setzen Sie ein neues Passwort, das alle Sitzungen beendet, und prüfen Sie Ihre übrigen Schlüssel.',
  },
  sshKeyAdded: {
    subject: 'Ihr Konto hat einen neuen SSH-Schlüssel',
    what: 'Der SSH-Schlüssel „{{name}}“, {{fingerprint}}, wurde Ihrem Konto hinzugefügt. Server, die von nun an bestellt werden, lassen ihn ein.',
    next: 'Wenn Sie das nicht waren, löschen Sie ihn, setzen Sie ein neues Passwort, das alle Sitzungen beendet, und prüfen Sie, wen Ihre Server einlassen.',
  },
  keyRevoked: {
    subject: 'Einer Ihrer API-Schlüssel wurde widerrufen',
    what: 'Jemand anderes hat Ihren API-Schlüssel „{{name}}“, {{prefix}}…, Nummer {{id}}, widerrufen. Er funktioniert nicht mehr.',
    next: 'Wenn eines Ihrer Programme ihn benötigt, legen Sie dafür einen neuen an.',
  },
  keyEnding: {
    subject: 'Einer Ihrer API-Schlüssel läuft bald ab',
    what: 'Ihr API-Schlüssel „{{name}}“, {{prefix}}…, läuft am {{at}} ab. Programme, die ihn verwenden, erhalten dann keinen Zugang mehr.',
    next: 'Wenn eines davon weiterlaufen soll, erneuern Sie den Schlüssel: Sie erhalten einen neuen mit denselben Rechten, und der alte gilt so lange weiter.',
  },
  putBack: {
    subject: 'Bitte sehen Sie Ihre API-Schlüssel durch',
    what: 'Bei uns ist etwas ausgefallen, und Ihr Konto ist wieder so, wie es am {{at}} war. Was Sie danach daran geändert haben, gilt nicht mehr, und Sie sind überall abgemeldet.',
    keys: 'Ein API-Schlüssel, den Sie danach widerrufen haben, gilt wieder: Widerrufen Sie ihn noch einmal. Einen Schlüssel, den Sie danach angelegt haben, gibt es nicht mehr.',
    rest: 'Sehen Sie auch Passwort, zweiten Faktor, Passkeys und SSH-Schlüssel durch, und wer in Ihrer Organisation ist.',
  },
  verify: {
    subject: 'Bestätigen Sie Ihre Adresse',
    what: 'Bitte bestätigen Sie Ihre Adresse innerhalb eines Tages über diesen Link.',
  },
  repeated: {
    subject: 'Sie haben bereits ein Konto',
    what: 'Jemand hat sich mit Ihrer Adresse registriert, zu der es schon ein Konto gibt. Wenn Sie das waren, melden Sie sich damit an. Falls Sie das Passwort vergessen haben, setzen Sie innerhalb einer Stunde über diesen Link ein neues.',
    ifNot: 'Wenn Sie das nicht waren, brauchen Sie nichts zu tun: An Ihrem Konto hat sich nichts geändert.',
  },
  forgotten: {
    subject: 'Setzen Sie ein neues Passwort',
    what: 'Über diesen Link können Sie innerhalb einer Stunde ein neues Passwort setzen. Er funktioniert einmal.',
  },
  passwordReset: {
    subject: 'Ihr Passwort wurde geändert',
    what: 'Das Passwort Ihres Kontos wurde über einen Link aus einer E-Mail neu gesetzt. Alle Sitzungen wurden beendet.',
    ifNot:
      'Wenn Sie das nicht waren, liest jemand Ihre E-Mails: Sichern Sie Ihr Postfach, setzen Sie das Passwort noch einmal neu und prüfen Sie Ihre API-Schlüssel.',
  },
  passwordChanged: {
    subject: 'Ihr Passwort wurde geändert',
    what: 'Jemand, der das bisherige Passwort kannte, hat für Ihr Konto ein neues gesetzt. Alle anderen Sitzungen wurden beendet.',
    ifNot:
      'Wenn Sie das nicht waren, setzen Sie über „Passwort vergessen“ ein neues und prüfen Sie Ihre API-Schlüssel.',
  },
  emailWanted: {
    subject: 'Bestätigen Sie Ihre neue Adresse',
    what: 'Folgen Sie innerhalb eines Tages diesem Link. Ihr Konto hat dann diese Adresse.',
  },
  emailLeaving: {
    subject: 'Ihr Konto soll eine andere Adresse erhalten',
    what: 'Jemand, der an Ihrem Konto angemeldet ist, möchte ihm eine andere Adresse geben. Das gilt erst, wenn der Link bestätigt wird, den wir dorthin gesendet haben; bis dahin bleibt alles, wie es war.',
    ifNot:
      'Wenn Sie das nicht waren, melden Sie sich an und setzen Sie ein neues Passwort: Damit enden alle anderen Sitzungen, und der Link gilt nicht mehr.',
  },
  emailTaken: {
    subject: 'Zu dieser Adresse gibt es bereits ein Konto',
    what: 'Jemand möchte seinem Konto Ihre Adresse geben, zu der es bereits ein Konto gibt. Beide Konten bleiben, wie sie sind.',
    next: 'Wenn Sie das waren, melden Sie sich mit dieser Adresse an, oder geben Sie jenem Konto zuerst eine andere.',
  },
  emailGone: {
    subject: 'Ihr Konto hat eine andere Adresse',
    what: 'Ihr Konto hat ab sofort eine andere Adresse. Wenn Sie das nicht veranlasst haben, holen Sie sie innerhalb von sieben Tagen über diesen Link zurück.',
    button: 'Adresse zurückholen',
    next: 'Dann enden alle Sitzungen, das Passwort gilt nicht mehr, und wir senden Ihnen einen Link, über den Sie ein neues setzen.',
  },
  emailBack: {
    subject: 'Ihr Konto hat wieder die alte Adresse',
    what: 'Ihr Konto hat wieder diese Adresse. Alle Sitzungen wurden beendet, und das Passwort gilt nicht mehr. Setzen Sie innerhalb einer Stunde über diesen Link ein neues.',
    sshKeys:
      'Darunter waren diese SSH-Schlüssel: {{names}}. Ein Server, der einen davon einlässt, tut das, bis Sie ihn dort entfernen: Prüfen Sie die Schlüssel jedes Servers.',
    next: 'API-Schlüssel, SSH-Schlüssel, Passkeys und Authenticator-Apps, die seit der Änderung der Adresse hinzugekommen sind, wurden entfernt. Prüfen Sie auch die älteren: Wer die Adresse ändern konnte, konnte auch sie ändern.',
  },
  addressHeld: {
    subject: 'Mit dieser Adresse ist noch kein Konto möglich',
    what: 'Jemand hat sich mit Ihrer Adresse registriert. Ein anderes Konto hat sie vor weniger als einer Woche abgegeben und kann sie noch zurückholen. Bis dahin bekommt sie niemand anderes.',
    next: 'Wenn Sie ein Konto mit dieser Adresse möchten, registrieren Sie sich in einer Woche noch einmal.',
  },
  signedIn: {
    subject: 'Neue Anmeldung an Ihrem Konto',
    what: 'Jemand hat sich in einem Browser oder Programm an Ihrem Konto angemeldet, das dort bisher unbekannt war: {{program}}.',
    whatUnknown:
      'Jemand hat sich in einem Browser oder Programm an Ihrem Konto angemeldet, das dort bisher unbekannt war und seinen Namen nicht nannte.',
    ifNot:
      'Wenn Sie das nicht waren, setzen Sie ein neues Passwort – damit enden alle Sitzungen – und prüfen Sie Ihre API-Schlüssel.',
  },
  factorOn: {
    subject: 'Ihr Konto hat jetzt einen zweiten Faktor',
    what: 'Bei der Anmeldung fragt Ihr Konto ab sofort nach einem Code Ihrer Authenticator-App.',
  },
  factorOff: {
    subject: 'Ihr Konto hat keinen zweiten Faktor mehr',
    what: 'Bei der Anmeldung fragt Ihr Konto ab sofort nicht mehr nach einem Code Ihrer Authenticator-App.',
  },
  newCodes: {
    subject: 'Ihr Konto hat neue Wiederherstellungscodes',
    what: 'Für Ihr Konto wurden zehn neue Wiederherstellungscodes erzeugt. Die alten gelten nicht mehr.',
  },
  passkeyAdded: {
    subject: 'Ihr Konto hat einen neuen Passkey',
    what: 'Ab sofort ist die Anmeldung an Ihrem Konto auch mit dem Passkey „{{name}}“ möglich.',
  },
  passkeyRemoved: {
    subject: 'Ein Passkey Ihres Kontos wurde entfernt',
    what: 'Mit dem Passkey „{{name}}“ ist keine Anmeldung mehr möglich.',
  },
  passkeyCopied: {
    subject: 'Ein Passkey Ihres Kontos wurde abgelehnt',
    what: 'Jemand hat den Passkey „{{name}}“ vorgezeigt, und sein Zähler stand niedriger als zuvor. Das kommt vor, wenn es eine Kopie davon gibt. Wir haben die Anmeldung abgelehnt.',
    next: 'Melden Sie sich auf einem anderen Weg an, entfernen Sie diesen Passkey und fügen Sie einen neuen hinzu.',
  },
  resetAsked: {
    subject: 'Ihr zweiter Faktor wird entfernt',
    what: 'Unserem Support wurde gemeldet, dass Sie Ihren zweiten Faktor verloren haben. Wenn das nicht stimmt oder Sie ihn wiedergefunden haben, verhindern Sie es über diesen Link.',
    button: 'Zweiten Faktor behalten',
    next: 'Wenn Sie nichts tun, gelten Authenticator-App, Passkeys und Wiederherstellungscodes Ihres Kontos in drei Tagen nicht mehr. Danach genügt Ihr Passwort zur Anmeldung; richten Sie dann neue ein.',
  },
  resetStopped: {
    subject: 'Ihr zweiter Faktor bleibt',
    what: 'Die zweiten Faktoren Ihres Kontos sollten entfernt werden. Das wurde verhindert, und alles bleibt, wie es war.',
  },
  resetDone: {
    subject: 'Ihr zweiter Faktor wurde entfernt',
    what: 'Authenticator-App, Passkeys und Wiederherstellungscodes Ihres Kontos gelten nicht mehr, und alle Sitzungen wurden beendet.',
    next: 'Melden Sie sich mit Ihrem Passwort an und richten Sie neue ein. Wenn Sie das nicht veranlasst haben, setzen Sie ein neues Passwort und melden Sie sich sofort bei uns.',
  },
  impersonated: {
    subject: 'Unser Support sieht sich Ihr Konto an',
    whatReading: 'Dreißig Minuten lang sieht unser Support, was Sie sehen, und ändert nichts.',
    whatChanging:
      'Dreißig Minuten lang sieht unser Support, was Sie sehen, und kann für Sie Änderungen vornehmen.',
    reason: 'Der Grund: {{reason}}',
    limits:
      'An Passwörter, zweite Faktoren, Schlüssel und Ihre Maschinen kommt er nicht heran. Was er tut, steht in den Aktivitäten Ihrer Organisation.',
    ifNot: 'Wenn Sie das nicht erwartet haben, antworten Sie auf diese E-Mail.',
  },
  ofStaff: {
    subject: 'Sie haben ein Mitarbeiterkonto',
    what: 'Setzen Sie innerhalb einer Stunde über diesen Link Ihr Passwort. Er funktioniert einmal.',
    role: 'Ihre Rolle ist {{role}}. Fügen Sie nach der Anmeldung einen Passkey hinzu oder richten Sie eine Authenticator-App ein: Ohne sie bleibt alles für Mitarbeiter geschlossen.',
    late: 'Wenn die Stunde vorbei ist, lassen Sie sich auf der Anmeldeseite einen neuen Link senden.',
  },
  corrected: {
    subject: 'Ihr Konto wurde berichtigt',
    what: 'Unser Support hat Folgendes an Ihrem Konto geändert: {{fields}}. Dort sehen Sie, was jetzt eingetragen ist.',
    ifWrong: 'Wenn das nicht stimmt, ändern Sie es oder antworten Sie auf diese E-Mail.',
  },
  fields: {
    email: 'Adresse',
    first_name: 'Vorname',
    last_name: 'Nachname',
    phone: 'Telefon',
    billing_email: 'Adresse für Rechnungen',
    abuse_email: 'Adresse für Missbrauchsmeldungen',
  },
  blocked: {
    subject: 'Ihr Konto wurde gesperrt',
    what: 'Sie wurden überall abgemeldet, und weder Ihr Passwort noch Ihre API-Schlüssel geben Ihnen Zugang. Was Sie bestellt haben, läuft weiter.',
    next: 'Den Grund erfahren Sie von unserem Support: Antworten Sie auf diese E-Mail.',
  },
  unblocked: {
    subject: 'Ihr Konto ist wieder offen',
    what: 'Sie können sich wieder anmelden, und API-Schlüssel, die nicht widerrufen wurden, funktionieren wieder.',
  },
  unsubscribe: {
    title: 'E-Mails, die Sie nicht möchten',
    payments:
      'Möchten Sie keine E-Mails mehr über eingegangene Zahlungen? Rechnungen und Zahlungserinnerungen erhalten Sie weiterhin.',
    services:
      'Möchten Sie keine E-Mails mehr darüber, wie es mit Ihren Diensten weitergeht, etwa dass einer bereit oder verlängert ist? Was Sie wissen müssen, erhalten Sie weiterhin.',
    button: 'Abbestellen',
    done: 'Erledigt: Sie erhalten keine E-Mails dieser Art mehr. In den Einstellungen Ihres Kontos können Sie sie wieder einschalten.',
  },
  roles: {
    administrator: 'Administrator',
    billing: 'Buchhaltung',
    support: 'Support',
    operator: 'Betrieb',
  },
  closed: {
    subject: 'Ihr Konto ist geschlossen',
    what: 'Sie haben Ihr Konto geschlossen. Niemand kann sich mehr damit anmelden, und Name und Adressen sind gelöscht; diese Adresse in einer Woche, zusammen mit den E-Mails, die an sie gingen.',
    kept: 'Rechnungen und Zahlungen bleiben ohne sie gespeichert, solange das Gesetz es verlangt. Wenn Sie wieder ein Konto möchten, registrieren Sie sich mit dieser oder einer anderen Adresse.',
  },
};
