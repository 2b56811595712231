import { useText } from '../text/index.ts';
import { Text } from '../ui/index.ts';
import { useRates } from './useRates.ts';

const isOfPorts = (type: string) => type === 'tcp' || type === 'udp';

interface TopListProps {
  title: string;
  tops: readonly { name: string; type: string; value: number }[];
}

/** What was most frequent, each as long as its share of the first. */
export function TopList({ title, tops }: TopListProps) {
  const { t, language } = useText();
  const { count } = useRates();
  const countryOf = (code: string) => new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code;
  const most = Math.max(1, ...tops.map(({ value }) => value));
  return (
    <section className="tops" aria-label={title}>
      <h3 className="tops-title">{title}</h3>
      {tops.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('shield.notKnown')}
        </Text>
      ) : (
        <ol>
          {tops.map(({ name, type, value }) => (
            <li key={`${name} ${type}`} className="top">
              <span className="top-name">
                {type === 'country' ? countryOf(name) : name}
                {/* The title says what the others are. */}
                {isOfPorts(type) && <small> {type.toUpperCase()}</small>}
              </span>
              <span className="top-value">{count(value)}</span>
              <span aria-hidden className="top-bar" style={{ width: `${(value / most) * 100}%` }} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
