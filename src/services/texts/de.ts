import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  shared: {
    look: '{{name}} ansehen',
    payNow: 'Jetzt bezahlen',
    reason: 'Grund: {{reason}}',
  },
  ready: {
    subject: '{{name}} ist bereit',
    server: 'Ihr Server {{name}} läuft.',
    other: 'Was Sie bestellt haben, ist bereit: {{what}}.',
    signIn: 'Melden Sie sich mit dem Passwort Ihrer Bestellung oder mit einem SSH-Schlüssel Ihres Kontos an:',
  },
  renewed: {
    subject: '{{name}} ist bis {{duedate}} verlängert',
    what: '{{what}} ist bis {{duedate}} bezahlt. Vielen Dank.',
  },
  renewalBack: {
    subject: '{{name}} ist bis {{duedate}} bezahlt',
    what: 'Geld, das für {{what}} bezahlt war, ist zurückgegangen.',
    next: 'Der Dienst ist jetzt bis {{duedate}} bezahlt. Wir melden uns, bevor sich daran etwas ändert.',
  },
  traffic: {
    subject: '{{name}} hat {{percent}} % seines Datenverkehrs im Monat {{month}} verbraucht',
    total:
      '{{name}} hat im Monat {{month}} bisher {{used}} gesendet und empfangen. Im Preis enthalten sind {{included}} im Monat.',
    percentile95:
      'Das 95. Perzentil von {{name}} liegt im Monat {{month}} bisher bei {{used}}. Im Preis enthalten sind {{included}}.',
    soon: 'Was darüber hinausgeht, steht auf der nächsten Rechnung. Wir schreiben Ihnen noch einmal, wenn alles verbraucht ist.',
    beyond:
      'Was darüber hinausgeht, steht auf der nächsten Rechnung. Nichts wird gedrosselt oder abgeschaltet.',
  },
  suspended: {
    subject: '{{name}} ist gesperrt',
    what: '{{name}} ist gesperrt, also abgeschaltet und nicht benutzbar. Es wurde nichts gelöscht.',
  },
  unsuspended: {
    subject: '{{name}} ist nicht mehr gesperrt',
    byHand:
      '{{name}} ist nicht mehr gesperrt. Unsere Technik schaltet den Dienst wieder ein und gibt Ihnen Bescheid.',
    what: '{{name}} ist wieder benutzbar, so wie zuvor.',
  },
  terminated: {
    subject: '{{name}} ist beendet',
    byHand:
      '{{name}} ist beendet. Unsere Technik baut den Dienst mit allem, was darauf gespeichert ist, ab und gibt Ihnen Bescheid.',
    what: '{{name}} ist beendet. Was darauf gespeichert war, ist gelöscht, und die Adressen gehören nicht mehr Ihnen.',
    invoices: 'Offene Rechnungen dafür sind storniert.',
  },
  held: {
    subject: 'Wir prüfen Ihre Bestellung {{id}}',
    what: 'Ihre Bestellung {{id}} ist bezahlt. Wir sehen sie uns vor der Lieferung an; Sie brauchen nichts zu tun.',
    next: 'Wenn wir sie nicht annehmen können, erhalten Sie alles, was Sie bezahlt haben, zurück.',
  },
  released: {
    subject: 'Ihre Bestellung {{id}} geht weiter',
    what: 'Wir haben Ihre Bestellung {{id}} geprüft. Sie wird eingerichtet, und wir geben Ihnen Bescheid, sobald sie bereit ist.',
  },
  refused: {
    subject: 'Wir können Ihre Bestellung {{id}} nicht annehmen',
    what: 'Wir haben Ihre Bestellung {{id}} geprüft und können sie nicht annehmen. Alles, was Sie bezahlt haben, erhalten Sie zurück, und Sie schulden uns nichts.',
  },
  beingSetUp: {
    subject: 'Wir richten {{name}} ein',
    what: '{{name}} ist bezahlt und wird von unserer Technik von Hand eingerichtet. Wir geben Ihnen Bescheid, sobald alles bereit ist; Sie brauchen nichts zu tun. Der bezahlte Zeitraum beginnt an diesem Tag.',
  },
  changeDone: {
    subject: '{{name}} ist wie gewünscht geändert',
    what: 'Unsere Technik ist fertig: {{name}} ist jetzt so, wie Sie es gewählt haben.',
  },
  unsuspendDone: {
    subject: '{{name}} ist wieder benutzbar, so wie zuvor',
    what: 'Unsere Technik ist fertig: {{name}} ist wieder benutzbar, so wie zuvor.',
  },
  terminateDone: {
    subject: '{{name}} ist abgebaut, mit allem, was darauf gespeichert war',
    what: 'Unsere Technik ist fertig: {{name}} ist abgebaut, mit allem, was darauf gespeichert war.',
  },
  ends: {
    subject: '{{name}} endet am {{day}}',
    what: 'Sie haben {{name}} gekündigt. Der Dienst läuft bis {{day}}; dann wird alles gelöscht, was darauf gespeichert ist.',
    next: 'Bis dahin können Sie die Kündigung zurücknehmen.',
  },
  goesOn: {
    subject: '{{name}} läuft weiter',
    what: 'Sie haben die Kündigung von {{name}} zurückgenommen. Der Dienst läuft weiter wie bisher.',
  },
  changed: {
    subject: '{{name}} ist jetzt {{product}}',
    what: '{{name}} war bisher {{before}} und ist jetzt {{product}}.',
    paidUntil: 'Bezahlt bis',
    price: 'Preis für {{period}}, netto',
    byHand: 'Unsere Technik stellt den Dienst von Hand um und gibt Ihnen Bescheid, sobald das erledigt ist.',
  },
  reminded: {
    subject: 'Rechnung {{id}} ist am {{duedate}} fällig',
    what: 'Die Rechnung {{id}} für {{name}} ist noch nicht bezahlt: {{due}}, fällig am {{duedate}}.',
    next: 'Wenn Ihre Zahlung schon unterwegs ist, brauchen Sie nichts zu tun.',
  },
  overdue: {
    subject: 'Rechnung {{id}} ist überfällig',
    lastSubject: 'Letzte Mahnung: Rechnung {{id}} ist überfällig',
    what: 'Die Rechnung {{id}} für {{name}} war am {{duedate}} fällig, und {{due}} sind noch nicht bezahlt.',
    suspends: 'Wenn sie nicht bezahlt wird, ist {{name}} ab dem {{day}} gesperrt und nicht benutzbar.',
    next: 'Wenn Sie mehr Zeit brauchen, schreiben Sie uns vorher.',
    nextOpen: 'Wenn Sie mehr Zeit brauchen, schreiben Sie uns.',
  },
  ending: {
    subject: '{{name}} endet am {{day}}',
    what: '{{name}} wird nicht automatisch verlängert und endet daher am {{day}}. Was darauf gespeichert ist, wird dann gelöscht.',
    next: 'Wenn Sie den Dienst behalten möchten, verlängern Sie ihn vor diesem Tag oder schalten Sie die automatische Verlängerung ein.',
  },
  priceAnnounced: {
    subject: '{{name}} kostet ab dem {{day}} {{price}}',
    what: 'Der Preis von {{name}} ändert sich mit der Verlängerung am {{day}}:',
    before: 'Bis dahin, für {{period}}',
    after: 'Danach, für {{period}}',
    tax: 'Beide Preise sind netto. Was Sie schon bezahlt haben und eine Rechnung, die noch offen ist, behalten ihren Preis.',
    choice:
      'Wenn Sie einverstanden sind, brauchen Sie nichts zu tun. Andernfalls kündigen Sie vor dem {{day}} zum Ende des Zeitraums; weitere Kosten entstehen Ihnen dann nicht.',
  },
  priceKept: {
    subject: '{{name}} behält den bisherigen Preis',
    what: 'Wir hatten Ihnen einen neuen Preis für {{name}} angekündigt. Er gilt nicht: Es bleibt bei {{price}}.',
    next: 'Eine Rechnung mit dem neuen Preis ist storniert.',
  },
  periods: {
    monthly: 'einen Monat',
    quarterly: 'ein Quartal',
    semiannually: 'ein halbes Jahr',
    annually: 'ein Jahr',
    biennially: 'zwei Jahre',
    triennially: 'drei Jahre',
  },
  movedAway: {
    subject: '{{name}} gehört jetzt einer anderen Organisation',
    what: '{{name}} gehört jetzt einer anderen Organisation, die von nun an dafür zahlt. Was Sie dafür bezahlt haben, bleibt Ihres.',
    ifNot:
      'Das hat ein Inhaber Ihrer Organisation getan, der auch die andere verwaltet. Wenn Sie es nicht erwartet haben, antworten Sie auf diese E-Mail.',
  },
  movedIn: {
    subject: '{{name}} gehört jetzt Ihrer Organisation',
    what: '{{name}} gehört jetzt Ihrer Organisation, die ab dem nächsten Zeitraum dafür zahlt.',
    price:
      'Ein neuer Preis ist dafür angekündigt und gilt weiter: Ab der Verlängerung am {{day}} kostet ein Zeitraum {{price}} ohne Steuer.',
    next: 'Passwörter und SSH-Schlüssel eines Servers bleiben gültig. Ändern Sie sie, wenn andere sie kennen.',
  },
};
