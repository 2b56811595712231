import { createApiKey, findStaffMember } from '../account/index.ts';
import { transaction } from '../platform/index.ts';
import { type Command, UsageError } from './command.ts';
import { withContext } from './withDatabase.ts';

/** The way back in for somebody of the provider's who has no key left. */
export const addKey: Command = {
  usage: 'add-key --email sam@example.com',
  does: 'makes another API key for somebody of staff and prints it, once; they are told by mail',
  options: { email: { type: 'string' } },
  async run(config, { email }) {
    if (typeof email !== 'string' || email === '') throw new UsageError("--email takes the person's address");
    const key = await withContext(config, (ctx) =>
      transaction(ctx, 'commands.addKey', async (tx) => {
        const userId = await findStaffMember(tx, email);
        if (userId === null) throw new UsageError(`Nobody of staff has the address ${email}; see add-staff.`);
        return (await createApiKey(tx, userId, 'Made at the console', { byOther: true })).key;
      }),
    );
    return `The API key, which is shown this once:\n\n  ${key}\n`;
  },
};
