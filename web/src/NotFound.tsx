import { useText } from './text/index.ts';
import { Card, LinkButton } from './ui/index.ts';

export function NotFound() {
  const { t } = useText();
  return (
    <Card title={t('app.notFound')} text={t('app.notFoundText')}>
      <LinkButton to="/">{t('app.toOverview')}</LinkButton>
    </Card>
  );
}
