import { useText } from './text/index.ts';
import { Card } from './ui/Card.tsx';
import { LinkButton } from './ui/LinkTo.tsx';

export function NotFound() {
  const { t } = useText();
  return (
    <Card title={t('app.notFound')} text={t('app.notFoundText')}>
      <LinkButton to="/">{t('app.toOverview')}</LinkButton>
    </Card>
  );
}
