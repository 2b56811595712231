import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  shared: {
    total: 'Zu zahlen',
    due: 'Fällig am',
    nothing: 'Es ist nichts zu zahlen.',
    payNow: 'Jetzt bezahlen',
    seeInvoice: 'Rechnung ansehen',
    orderAgain: 'Neu bestellen',
    seeMethods: 'Zahlungsarten ansehen',
    seeProfile: 'Rechnungsdaten ansehen',
    reason: 'Grund: {{reason}}',
    youOweNothing: 'Dafür ist nichts zu zahlen.',
    onItsWay: 'Falls Ihre Überweisung schon unterwegs ist, schreiben wir sie Ihrem Konto als Guthaben gut.',
    partIsCredit:
      'Die {{credited}}, die Sie dafür bereits bezahlt haben, sind jetzt Guthaben in Ihrem Konto.',
    payNextWithIt: 'Damit können Sie Ihre nächsten Rechnungen bezahlen.',
  },
  order: {
    subject: 'Ihre Bestellung: Rechnung {{id}}',
    what: 'Vielen Dank für Ihre Bestellung. Wir haben für Sie reserviert:',
    next: 'Sobald die Rechnung bezahlt ist, liefern wir. Bestellungen, die bis dahin nicht bezahlt sind, werden storniert.',
    free: 'Es ist nichts zu zahlen, daher liefern wir sofort.',
  },
  renewal: {
    subject: 'Ihre Verlängerung: Rechnung {{id}}',
    what: 'Diese Rechnung ist für den nächsten Zeitraum Ihrer Dienste bei uns:',
    next: 'Wenn Sie sie bis dahin bezahlen, läuft alles weiter.',
    credit:
      'Sie haben {{credit}} Guthaben. Um den {{duedate}} wird diese Rechnung zuerst daraus bezahlt, und der Rest über Ihre gespeicherte Zahlungsmethode, falls es eine gibt.',
  },
  upgrade: {
    subject: 'Ihr Upgrade: Rechnung {{id}}',
    what: 'Diese Rechnung ist für die Änderung, die Sie gewünscht haben:',
    next: 'Sobald sie bezahlt ist, führen wir die Änderung aus. Wird sie bis dahin nicht bezahlt, bleibt alles, wie es ist.',
    free: 'Es ist nichts zu zahlen, daher führen wir die Änderung sofort aus.',
  },
  credit: {
    subject: 'Ihr Guthaben: Rechnung {{id}}',
    what: 'Sie möchten Guthaben im Wert von {{total}} für Ihr Konto kaufen.',
    next: 'Sobald die Rechnung bezahlt ist, steht das Guthaben in Ihrem Konto. Wird sie bis dahin nicht bezahlt, wird sie storniert.',
  },
  demand: {
    subject: 'Eine neue Rechnung: {{id}}',
    what: 'Wir haben eine Rechnung für Sie ausgestellt:',
  },
  paid: {
    subject: 'Zahlung zu Rechnung {{id}} eingegangen',
    what: 'Wir haben {{total}} für die Rechnung {{id}} erhalten. Vielen Dank.',
  },
  partPaid: {
    subject: 'Rechnung {{id}} ist teilweise bezahlt',
    what: 'Wir haben {{amount}} für die Rechnung {{id}} erhalten. Vielen Dank.',
    due: 'Offen sind noch {{due}}, fällig am {{duedate}}.',
    dueOfOrder:
      'Offen sind noch {{due}}, fällig am {{duedate}}. Sobald sie bezahlt sind, liefern wir Ihre Bestellung.',
    next: 'Sie können den Rest mit einer weiteren Überweisung oder mit Guthaben bezahlen. Kommt er nicht, wird das bereits Bezahlte zu Guthaben.',
  },
  ended: {
    subject: 'Rechnung {{id}} ist storniert',
    renewalExpired:
      'Die Rechnung {{id}} über {{total}} wurde nicht rechtzeitig bezahlt und ist daher storniert.',
    expired:
      'Die Rechnung {{id}} über {{total}} wurde nicht rechtzeitig bezahlt. Sie ist daher storniert, und was dafür reserviert war, ist wieder frei. Sie schulden uns nichts.',
    orderAgain:
      'Wenn Sie es noch möchten, bestellen Sie erneut. Falls Ihre Überweisung schon unterwegs ist, schreiben wir sie Ihrem Konto als Guthaben gut.',
    asAsked:
      'Die Rechnung {{id}} über {{total}} ist auf Ihren Wunsch storniert, und was dafür reserviert war, ist wieder frei. Sie schulden uns nichts.',
    because: 'Die Rechnung {{id}} über {{total}} ist storniert: {{reason}}.',
  },
  refund: {
    subject: 'Erstattung zu Rechnung {{id}}',
    asCredit: 'Wir haben Ihnen {{amount}} der Rechnung {{id}} als Guthaben in Ihrem Konto erstattet.',
    original:
      'Wir haben Ihnen {{amount}} der Rechnung {{id}} auf die Karte oder das Konto erstattet, womit Sie bezahlt haben. Banken brauchen dafür bis zu zehn Tage.',
    takenBack:
      '{{amount}} wurden irrtümlich für die Rechnung {{id}} gebucht: Die Zahlung war nicht Ihre. Wir haben die Buchung zurückgenommen.',
    dispute: 'Ihre Bank hat {{amount}} der Rechnung {{id}} zurückgeholt.',
    part: 'Wir haben Ihnen {{amount}}, die Sie für die Rechnung {{id}} bezahlt haben, als Guthaben in Ihrem Konto erstattet. Die Rechnung ist noch offen.',
  },
  paidAgain: {
    subject: 'Die Rechnung {{id}} ist wieder bezahlt',
    why: 'Ihre Bank hat uns {{amount}} der Rechnung {{id}} zurückgegeben, die sie zurückgeholt hatte. Damit ist wie zuvor bezahlt, was Sie erhalten haben; ein Beleg darüber steht bei der Rechnung. Sie müssen nichts tun.',
  },
  paidOut: {
    subject: 'Wir haben {{amount}} Ihres Guthabens ausgezahlt',
    why: 'Wir haben am {{day}} {{amount}} Ihres Guthabens auf Ihr Bankkonto überwiesen. Banken brauchen dafür ein bis zwei Tage.',
  },
  becameCredit: {
    subject: 'Ihre Zahlung zu Rechnung {{id}} wurde zu Guthaben',
    subjectOfRefund: 'Ihre Erstattung zu Rechnung {{id}} wurde zu Guthaben',
    subjectOfTransfer: '{{amount}} Ihrer Überweisung wurden zu Guthaben',
    wasPaid:
      'Wir haben für die Rechnung {{id}} {{amount}} mehr erhalten, als zu zahlen war: Sie war bereits bezahlt. Der Betrag ist jetzt Guthaben in Ihrem Konto, mit dem Sie Ihre nächsten Rechnungen bezahlen können.',
    wasRefunded:
      'Ihre Bank hat die {{amount}}, die wir Ihnen zur Rechnung {{id}} erstattet haben, nicht angenommen. Der Betrag ist jetzt Guthaben in Ihrem Konto; melden Sie sich, wenn Sie ihn auf anderem Weg möchten.',
    wasDisputed:
      'Ihre Bank hatte {{amount}} zur Rechnung {{id}} zurückgeholt und uns jetzt wieder gegeben. Der Betrag ist jetzt Guthaben in Ihrem Konto; melden Sie sich, wenn Sie ihn auf anderem Weg möchten.',
    wasCancelled:
      'Wir haben {{amount}} für die Rechnung {{id}} erhalten, die schon storniert war, als das Geld kam. Der Betrag ist jetzt Guthaben in Ihrem Konto; bestellen Sie erneut und bezahlen Sie damit.',
    overpaid:
      'Ihre Überweisung {{reference}} war um {{amount}} höher, als zu zahlen war. Der Betrag ist jetzt Guthaben in Ihrem Konto, mit dem Sie Ihre nächsten Rechnungen bezahlen können.',
  },
  declined: {
    subject: 'Ihre Zahlung zu Rechnung {{id}} wurde abgelehnt',
    what: 'Wir konnten {{amount}} für die Rechnung {{id}} nicht einziehen: {{reason}}',
    open: 'Es wurde nichts abgebucht, und die Rechnung ist noch offen.',
    tryAgain:
      'Wir versuchen es am {{day}} noch einmal. Sie können auch jetzt bezahlen, gern mit einer anderen Karte:',
    noTry:
      'Wir versuchen es nicht von selbst noch einmal. Sie können jetzt bezahlen, gern mit einer anderen Karte:',
  },
  confirm: {
    subject: 'Bitte bestätigen Sie Ihre Zahlung zu Rechnung {{id}}',
    what: 'Ihre Bank möchte, dass Sie die Zahlung von {{amount}} für die Rechnung {{id}} selbst bestätigen.',
    next: 'Es wurde noch nichts abgebucht. Bitte bezahlen Sie hier:',
  },
  methodSaved: {
    subject: 'Zahlungsart gespeichert: {{method}}',
    what: '{{method}} ist bei unserem Zahlungsanbieter gespeichert.',
    isDefault: 'Ihre Verlängerungen werden damit bezahlt.',
    ifNot:
      'Wenn Sie das nicht waren, entfernen Sie die Zahlungsart in Ihrem Konto und melden Sie sich bei uns.',
  },
  methodRemoved: {
    subject: 'Zahlungsart entfernt: {{method}}',
    what: '{{method}} ist entfernt, und es wird nichts mehr damit bezahlt.',
    wasDefault:
      'Ihre Verlängerungen wurden damit bezahlt. Speichern Sie eine andere Zahlungsart oder wählen Sie eine, oder bezahlen Sie sie selbst.',
  },
  taxId: {
    subject: 'Die USt-IdNr. {{taxId}} ist nicht gültig',
    what: 'Wir haben die USt-IdNr. {{taxId}} aus Ihrem Rechnungsprofil geprüft, und sie ist nicht gültig. Bis dahin enthalten Ihre Rechnungen Umsatzsteuer.',
    next: 'Wenn sie Ihnen erst vor Kurzem erteilt wurde, kennt das Register sie vielleicht noch nicht: Wir fragen jeden Tag erneut. Andernfalls prüfen Sie sie in Ihrem Rechnungsprofil und senden Sie sie noch einmal.',
  },
};
