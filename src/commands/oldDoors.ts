/** What whoever brings a database back has to see to, since nothing in it can: it knows of no change after its backup. */
export const oldDoors = [
  'Everybody is signed out. API keys that were revoked since are good again, and so are former passwords and factors; who was',
  'taken out of your staff or of an organization is in it again. Look through the accounts and keys of your staff first. Customers',
  'with API keys get a mail that says what to look at.',
];
