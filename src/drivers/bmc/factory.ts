/** Names and passwords that makers give all their BMCs, and that everybody knows. */
export const factoryAccounts: readonly { user: string; passwords: readonly string[] }[] = [
  { user: 'root', passwords: ['calvin', '0penBmc', 'root', 'changeme', 'superuser'] },
  { user: 'ADMIN', passwords: ['ADMIN'] },
  { user: 'admin', passwords: ['admin', 'password', 'cmb9.admin'] },
  { user: 'USERID', passwords: ['PASSW0RD'] },
  { user: 'Administrator', passwords: ['Admin@9000', 'superuser'] },
  { user: 'sysadmin', passwords: ['superuser'] },
];
