import { Anchor, Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { forgetLate, type Refused, useLate } from '../data/refused.ts';
import { useText } from '../text/index.ts';
import { Refusal } from './Refusal.tsx';

/** Of several changes that were under way at once, each that was refused. */
export function Refusals({ of }: { of: readonly Refused[] }) {
  return of.map(({ id, error }) => <Refusal key={id} error={error} />);
}

/** What was refused after its page was left, until somebody has read it. */
export function LateRefusals() {
  const { t } = useText();
  return useLate().map((each) => (
    <div key={each.id} className="late">
      <Refusal error={each.error} title={t('app.notDone')}>
        <Group gap="md" mt="xs">
          <Anchor component={Link} to={each.where} size="sm" c="inherit" onClick={() => forgetLate(each)}>
            {t('app.whereAsked')}
          </Anchor>
          <Button size="xs" variant="default" onClick={() => forgetLate(each)}>
            {t('app.close')}
          </Button>
        </Group>
      </Refusal>
    </div>
  ));
}
