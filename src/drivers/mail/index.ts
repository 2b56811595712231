/**
 * Mail leaves the product here. One contract (`contract.ts`), two engines that keep it, and the suite that both of
 * them pass (`conformance.ts`): `smtpMail` for a provider with a mail server, `databaseMail` for one without, where
 * mails stay in the database and staff reads them.
 */
export * from './contract.ts';
export { databaseMail } from './database.ts';
export { type SmtpOptions, smtpMail } from './smtp.ts';
