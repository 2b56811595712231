import { useParams } from '@tanstack/react-router';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { staffAttack, staffAttacks } from '../../data/queries/staff/index.ts';
import { lasting, moment } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Act, LinkTo, ListPage, Page, Section, State, Text, Thing, useColumns } from '../../ui/index.ts';
import '../shield.css';
import { AttackFacts, AttackTops, Measures } from '../Attack.tsx';
import { plainOf, useSayAttack } from '../say.ts';
import { useRates } from '../useRates.ts';

type Attack = Schema<'StaffShieldAttack'>;

/** Attacks on addresses of all organizations. */
export function StaffAttacks() {
  const { t, language } = useText();
  const { inSecond } = useRates();
  const say = useSayAttack();
  const columns = useColumns<Attack>(
    ['attack', 'organization', 'address', 'state', 'started_at', 'duration', 'peak'],
    {
      attack: (attack) => (
        <LinkTo to="/staff/shield-attacks/$id" params={{ id: attack.attack_id }}>
          {say(attack)}
        </LinkTo>
      ),
      address: ({ dest }) => plainOf(dest),
      state: ({ ended_at }) => <State of={ended_at === '' ? 'attack_on' : 'attack_over'} />,
      started_at: ({ started_at }) => moment(String(started_at), language),
      duration: ({ duration }) => lasting(duration, language),
      peak: ({ pps }) => inSecond(pps),
    },
  );
  return (
    <ListPage
      title={t('staff.attacks')}
      empty={t('empty.attacks')}
      list={staffAttacks}
      columns={columns}
      keyOf={({ attack_id }) => attack_id}
      filters={[{ name: 'organization_id' }, { name: 'address' }]}
    />
  );
}

/** One of them; who may, releases what is done against it. */
export function StaffAttack() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  const say = useSayAttack();
  return (
    <Thing title={t('shield.attack')} query={staffAttack({ id: Number(id) })}>
      {({ attack, info }) => (
        <Page title={say(attack)} aside={<State of={attack.ended_at === '' ? 'attack_on' : 'attack_over'} />}>
          <Text>
            <LinkTo to="/staff/organizations/$id" params={{ id: String(attack.organization.id) }}>
              {attack.organization.name}
            </LinkTo>
          </Text>
          <AttackFacts
            attack={attack}
            address={
              <LinkTo to="/staff/services/$id" params={{ id: String(attack.service_id) }}>
                {plainOf(attack.dest)}
              </LinkTo>
            }
          />
          <Section title={t('shield.done')}>
            {attack.mitigations.length === 0 && <Text c="dimmed">{t('edges.nothingDone')}</Text>}
            <Measures
              of={attack.mitigations}
              release={({ id: mitigation }, name) => (
                <Act
                  operation="releaseMitigationAsStaff"
                  label={t('shield.release')}
                  text={`${name}. ${t('edges.releaseText')}`}
                  onAct={() =>
                    client.post('/staff/shield/mitigations/{id}/release', { path: { id: mitigation } })
                  }
                />
              )}
            />
          </Section>
          <AttackTops info={info} />
        </Page>
      )}
    </Thing>
  );
}
