import { ApiError } from '../../../client/index.ts';
import { useText } from '../text/index.ts';
import { Bullets, Detail, Refusal, Text } from '../ui/index.ts';
import { type Draft, sentOf } from './draft.ts';
import { useSayRule } from './say.ts';

/** Why a draft cannot be: each rule by what it is called, since nobody counts them. */
export function DraftRefusal({ error, draft, address }: { error: unknown; draft: Draft; address: string }) {
  const { t } = useText();
  const say = useSayRule();
  const details = error instanceof ApiError ? error.details : [];
  const ofRules = details.flatMap(({ field, message }) => {
    const [, nth, part] = /^rules\[(\d+)\]\.?(.*)$/.exec(field) ?? [];
    const rule = nth === undefined ? undefined : sentOf(draft, address)[Number(nth)];
    return rule === undefined ? [] : [{ field, message, part, name: say.whole(rule) }];
  });
  if (ofRules.length === 0 || ofRules.length < details.length) return <Refusal error={error} />;
  return (
    <div role="alert" className="draft-mistakes">
      <Text size="sm">{t('refusal.invalid_request')}</Text>
      <Bullets size="sm">
        {ofRules.map(({ field, message, name }) => (
          <Bullets.Item key={field}>
            <b>{name}</b>: <Detail message={message} />
          </Bullets.Item>
        ))}
      </Bullets>
    </div>
  );
}
