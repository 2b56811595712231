import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  invitation: {
    subject: '„{{by}}“ lädt Sie zu „{{organization}}“ ein',
    what: '„{{by}}“ lädt Sie ein, für die Organisation „{{organization}}“ tätig zu werden. Ihre Rolle: {{role}}. Melden Sie sich innerhalb einer Woche mit dieser Adresse an und nehmen Sie die Einladung über diesen Link an.',
    button: 'Einladung annehmen',
    next: 'Wenn Sie noch kein Konto haben, registrieren Sie sich zuerst mit dieser Adresse. Wenn Sie nicht wissen, wer Sie einlädt, brauchen Sie nichts zu tun: Ohne den Link geschieht nichts.',
  },
  accepted: {
    subject: 'Ihre Einladung zu „{{organization}}“ wurde angenommen',
    what: 'Die Person, die Sie unter „{{email}}“ eingeladen haben, ist jetzt für die Organisation „{{organization}}“ tätig. Ihre Rolle: {{role}}.',
    ifWrong: 'Wenn das ein Irrtum war, kann ein Inhaber oder Administrator sie wieder entfernen.',
  },
  roleChanged: {
    subject: 'Ihre Rolle in „{{organization}}“ hat sich geändert',
    what: 'Ihre Rolle in der Organisation „{{organization}}“ war bisher: {{before}}. Sie ist jetzt: {{role}}.',
    ifNot: 'Wenn Sie das nicht erwartet haben, fragen Sie den Inhaber.',
  },
  removed: {
    subject: 'Sie sind kein Mitglied von „{{organization}}“ mehr',
    left: 'Sie haben die Organisation „{{organization}}“ verlassen.',
    leftNotYou:
      'Wenn Sie das nicht waren, hat jemand Zugang zu Ihrem Konto: Setzen Sie ein neues Passwort – damit enden alle Sitzungen – und prüfen Sie Ihre API-Schlüssel.',
    takenOut: 'Sie wurden aus der Organisation „{{organization}}“ entfernt.',
    takenOutNext:
      'Was Sie für sie bestellt haben, läuft weiter und gehört ihr; Ihr Konto und Ihre anderen Organisationen sind unverändert.',
  },
  roles: {
    owner: 'Inhaber',
    admin: 'Administrator',
    billing: 'Buchhaltung',
    technical: 'Technik',
    support: 'Support',
    viewer: 'Lesezugriff',
  },
  blocked: {
    subject: 'Ihre Organisation „{{organization}}“ ist gesperrt',
    what: 'Die Organisation „{{organization}}“ kann vorerst nichts bestellen und nichts ändern. Was läuft, läuft weiter, und Rechnungen können bezahlt werden.',
    next: 'Den Grund erfahren Sie von unserem Support: Antworten Sie auf diese E-Mail.',
  },
  unblocked: {
    subject: 'Ihre Organisation „{{organization}}“ ist wieder offen',
    what: 'Die Organisation „{{organization}}“ kann wieder bestellen und ändern wie zuvor.',
  },
  corrected: {
    subject: 'Ihre Organisation „{{organization}}“ wurde berichtigt',
    what: 'Unser Support hat Folgendes an Ihrer Organisation geändert: {{fields}}. Dort sehen Sie, was jetzt eingetragen ist.',
    ifWrong: 'Wenn das nicht stimmt, ändern Sie es oder antworten Sie auf diese E-Mail.',
  },
  fields: {
    name: 'Name',
    country: 'Land',
    require_2fa: 'zweiter Faktor für alle',
  },
};
