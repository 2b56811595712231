import type { Schema } from '../../../../client/index.ts';
import { moment } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { State, type StateName, Text } from '../../ui/index.ts';

type Edge = Schema<'ShieldEdge'>;
type Found = readonly [state: StateName, health: string, since: string | null];

/** The worst that is so of an edge: what comes first makes what comes after it unknown, or of no matter. */
function healthOf({ served, reason, node, health }: Edge): Found {
  if (!served) return ['off', 'unserved', null];
  if (!node.reachable) return ['error', 'unreachable', null];
  if (reason !== null) return ['off', 'nothing', null];
  if (health.error !== null) return ['error', 'error', health.error_since];
  if (health.peers_down_since !== null) return ['impaired', 'peers', health.peers_down_since];
  if (health.full_since !== null) return ['impaired', 'full', health.full_since];
  return health.seen_at === null ? ['waiting', 'unseen', null] : ['active', 'well', null];
}

/** How it is in a word. */
export function EdgeState({ of: edge }: { of: Edge }) {
  return <State of={healthOf(edge)[0]} />;
}

/** The same in a sentence, with what its process says of it. */
export function EdgeHealth({ of: edge }: { of: Edge }) {
  const { t, language } = useText();
  const [, name, since] = healthOf(edge);
  const said = edge.reason ?? edge.health.error;
  return (
    <div>
      <Text size="sm">
        {t(`edges.health_${name as 'well'}`, { time: since === null ? '' : moment(since, language) })}
      </Text>
      {said !== null && (
        <Text size="sm" c="dimmed" lang="en" style={{ overflowWrap: 'anywhere' }}>
          {said}
        </Text>
      )}
    </div>
  );
}
