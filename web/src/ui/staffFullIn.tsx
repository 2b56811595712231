import { Text } from '@mantine/core';
import { useText } from '../text/index.ts';

/** What is full sooner is worth a colour. */
const soonDays = 30;

/** When something is full if it goes on as it did; nothing where the API says nothing of it. */
export function FullIn({ days }: { days: number | null }) {
  const { t } = useText();
  if (days === null) return null;
  return (
    <Text size="sm" c={days <= soonDays ? 'red' : 'dimmed'}>
      {days === 0 ? t('staff.fullNow') : t('staff.fullIn', { count: days })}
    </Text>
  );
}
