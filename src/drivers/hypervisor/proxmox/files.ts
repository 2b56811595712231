import { HypervisorError } from '../contract.ts';
import { type FormFile, formBody } from '../formats/form.ts';
import { asList, asText } from './answers.ts';
import type { ProxmoxClient } from './client.ts';
import { calling, ProxmoxRefusal } from './failure.ts';
import type { ProxmoxOptions } from './options.ts';

type Content = 'iso' | 'import';

/** Files in the storage of that purpose, which every node has, or all share. */
export interface ClusterFiles {
  /** Sends one to a node; what has its name there is written over. */
  send(
    node: string,
    content: Content,
    name: string,
    file: FormFile['content'],
    sha256: string,
  ): Promise<void>;
  /** Names of those on a node. */
  names(node: string, content: Content): Promise<string[]>;
  /** Takes one away from a node. Not there: succeeds. */
  remove(node: string, content: Content, name: string): Promise<void>;
}

export function clusterFiles({ files }: ProxmoxOptions, client: ProxmoxClient): ClusterFiles {
  const folder = (node: string) => `/nodes/${node}/storage/${files}`;

  async function names(node: string, content: Content): Promise<string[]> {
    const all = asList(await client.read(`${folder(node)}/content`, { content }), 'files of a storage');
    return all.map(({ volid }) => asText(volid, 'the name of a file').replace(/^[^/]*\//, ''));
  }

  return {
    names,
    async send(node, content, name, file, sha256) {
      const form = await formBody([
        { name: 'content', value: content },
        { name: 'checksum-algorithm', value: 'sha256' },
        { name: 'checksum', value: sha256 },
        { name: 'filename', filename: name, content: file },
      ]);
      await calling('disk_failed', client.upload(`${folder(node)}/upload`, form, form.type));
      if (!(await names(node, content)).includes(name))
        throw new HypervisorError('disk_failed', `${name} was sent to ${node} and is not there`);
    },
    async remove(node, content, name) {
      const path = `${folder(node)}/content/${encodeURIComponent(`${files}:${content}/${name}`)}`;
      const failure = await client.run('DELETE', path).catch((error: unknown) => error);
      if (!(failure instanceof ProxmoxRefusal)) {
        if (failure) throw failure;
        return;
      }
      if ((await names(node, content)).includes(name))
        throw new HypervisorError('disk_failed', failure.message, { cause: failure });
    },
  };
}
