import { updateShieldEdge } from '../../../../client/generated/fields/updateShieldEdge.ts';
import type { BodyOf, OperationAt, Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, type Reading } from '../../data/drawn.ts';
import { useText } from '../../text/index.ts';
import { Act, Fieldset, Named, Tick, type Values } from '../../ui/index.ts';

type Edge = Schema<'ShieldEdge'>;
type Change = BodyOf<OperationAt<'patch', '/staff/shield/edges/{id}'>>;

/** What staff decides of an edge; all else of it goes on changing by itself. */
interface Decided extends Pick<Edge, 'name' | 'nodes'> {
  routers: Pick<
    NonNullable<Edge['routers']>,
    'most_routes' | 'rule_routes' | 'blackholes' | 'communities' | 'next_hop4' | 'next_hop6'
  > | null;
  /** All that a router could filter for. */
  choices: { id: number; name: string }[];
}

/** Changes an edge's name, and what its kind lets one say of it. */
export function ChangeEdge({ of: { id, kind } }: { of: Edge }) {
  const { t } = useText();
  return (
    <Act
      operation="updateShieldEdge"
      fields={updateShieldEdge}
      label={t('support.change')}
      of={decidedOf(id)}
      onAct={(values, _files, ifMatch, now) =>
        client.patch('/staff/shield/edges/{id}', { ifMatch, path: { id }, body: changeIn(values, now) })
      }
    >
      {(now) => (
        <>
          <Named name="name" value={now.name} />
          {now.routers !== null && <RouterFields now={now.routers} />}
          {kind === 'router' && (
            <Fieldset legend={t('field.nodes')} name="nodes">
              {now.choices.map((each) => (
                <Tick
                  key={each.id}
                  name={`node_${each.id}`}
                  label={each.name}
                  defaultChecked={now.nodes?.includes(each.id)}
                />
              ))}
            </Fieldset>
          )}
        </>
      )}
    </Act>
  );
}

/** Read with the nodes that may be chosen: a form without these would take away all that were. */
function decidedOf(id: number): Reading<Decided> {
  const whole = drawnOf('/staff/shield/edges/{id}', { path: { id } });
  const read = async () => {
    const { now, tag } = await whole.read();
    const { name, kind, nodes, routers } = now.edge;
    const choices: Decided['choices'] = [];
    if (kind === 'router')
      for await (const each of client.all('/staff/nodes', 'nodes'))
        if (each.runs_machines) choices.push({ id: each.id, name: each.name });
    return { now: { name, nodes, choices, routers: routers && decidedOfRouters(routers) }, tag };
  };
  return { read };
}

function decidedOfRouters(routers: NonNullable<Edge['routers']>): NonNullable<Decided['routers']> {
  const { most_routes, rule_routes, blackholes, communities, next_hop4, next_hop6 } = routers;
  return { most_routes, rule_routes, blackholes, communities, next_hop4, next_hop6 };
}

function changeIn(values: Values, { routers, nodes, choices }: Decided): Change {
  return {
    name: values.name,
    ...(routers !== null && {
      most_routes: Number(values.most_routes),
      rule_routes: Number(values.rule_routes),
      blackholes: values.blackholes !== undefined,
      communities: (values.communities ?? '').split(/[\s,;]+/).filter((each) => each !== ''),
      next_hop4: values.next_hop4 ?? null,
      next_hop6: values.next_hop6 ?? null,
    }),
    ...(nodes !== null && {
      nodes: choices.map(({ id }) => id).filter((id) => values[`node_${id}`] !== undefined),
    }),
  };
}

function RouterFields({ now }: { now: NonNullable<Decided['routers']> }) {
  const { t } = useText();
  return (
    <>
      <Named name="most_routes" value={now.most_routes} help={t('edges.mostRoutesHelp')} />
      <Named name="rule_routes" value={now.rule_routes} help={t('edges.ruleRoutesHelp')} />
      <Tick
        name="blackholes"
        label={t('field.blackholes')}
        help={t('edges.blackholesHelp')}
        defaultChecked={now.blackholes}
      />
      <Named
        name="communities"
        value={now.communities.join(' ')}
        help={t('edges.communitiesHelp')}
        isOptional
      />
      <Named name="next_hop4" value={now.next_hop4} help={t('edges.nextHopHelp')} isOptional />
      <Named name="next_hop6" value={now.next_hop6} help={t('edges.nextHopHelp')} isOptional />
    </>
  );
}

/** Takes one out of the list that no process speaks to any more. */
export function RemoveEdge({ of: { id, name } }: { of: Edge }) {
  const { t } = useText();
  return (
    <Act
      operation="removeShieldEdge"
      label={t('staff.delete')}
      text={t('edges.removeText')}
      name={name}
      isDangerous
      onAct={() => client.delete('/staff/shield/edges/{id}', { path: { id } })}
    />
  );
}
