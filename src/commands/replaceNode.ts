import { findNodeId, replaceNode } from '../fleet/index.ts';
import { AppError } from '../platform/index.ts';
import { type Command, UsageError } from './command.ts';
import { withContext } from './withDatabase.ts';

export const replaceNodeCommand: Command = {
  usage: 'replace-node --name node-1',
  does: 'after a host was replaced: the next one that starts under its NODE_NAME takes its place',
  options: { name: { type: 'string' } },
  async run(config, { name }) {
    if (typeof name !== 'string' || name === '')
      throw new UsageError('--name takes the NODE_NAME of the node');
    await withContext(config, async (ctx) => {
      const id = await findNodeId(ctx, name);
      if (id === null) throw new UsageError(`There is no node called ${name}.`);
      await replaceNode(ctx, id).catch((error: unknown) => {
        throw error instanceof AppError ? new UsageError(error.message) : error;
      });
    });
    return (
      `The next host that starts with NODE_NAME=${name} is this node. Machines that are not in its DATA_DIR are lost ` +
      'with the old one; the product flags them.'
    );
  },
};
