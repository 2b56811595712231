import { randomBytes } from 'node:crypto';
import { createApiKey, createUser, isStaffRole, passwordLink, staffRoles } from '../account/index.ts';
import { isDuplicate, transaction } from '../platform/index.ts';
import { type Command, UsageError } from './command.ts';
import { withContext } from './withDatabase.ts';

/** How the provider's people get in, the first administrator included. */
export const addStaff: Command = {
  usage: `add-staff --email sam@example.com --name "Sam Keeper" [--role ${staffRoles.join('|')}]`,
  does: 'makes a staff account and prints its API key and a link to set a password, once; an administrator unless it says otherwise',
  options: { email: { type: 'string' }, name: { type: 'string' }, role: { type: 'string' } },
  async run(config, { email, name, role = 'administrator' }) {
    if (typeof email !== 'string' || !/^[^\s@]+@[^\s@]+$/.test(email)) {
      throw new UsageError('--email takes an address such as sam@example.com');
    }
    if (typeof name !== 'string' || name.trim() === '')
      throw new UsageError("--name takes the person's name");
    if (typeof role !== 'string' || !isStaffRole(role)) {
      throw new UsageError(`--role takes one of ${staffRoles.join(', ')}`);
    }
    const [firstName = '', ...others] = name.trim().split(/\s+/);
    const { key, link } = await withContext(config, (ctx) =>
      transaction(ctx, 'commands.addStaff', async (tx) => {
        const password = randomBytes(24).toString('base64url'); // nobody knows it: the link sets another
        const lastName = others.join(' ');
        const userId = await createUser(tx, { email, firstName, lastName, password, staffRole: role });
        const { key } = await createApiKey(tx, userId, 'Made at the console');
        return { key, link: await passwordLink(tx, userId) };
      }).catch((error: unknown) => {
        if (isDuplicate(error, 'users_email'))
          throw new UsageError(`There is an account with the address ${email} already.`);
        throw error;
      }),
    );
    return (
      `${firstName} is ${role} now. The API key, which is shown this once:\n\n  ${key}\n\n` +
      `To sign in without it, a password is set by this link within an hour:\n\n  ${link}\n`
    );
  },
};
