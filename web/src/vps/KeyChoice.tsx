import { useText } from '../text/index.ts';
import { Group, LinkTo, Stack, Text, Tick } from '../ui/index.ts';

interface KeyChoiceProps {
  keys: readonly { id: number; name: string; fingerprint: string }[];
  chosen: ReadonlySet<number>;
  onChoose: (chosen: ReadonlySet<number>) => void;
}

/** Which of the account's SSH keys are let in. */
export function KeyChoice({ keys, chosen, onChoose }: KeyChoiceProps) {
  const { t } = useText();
  const turn = (id: number, isIn: boolean) => {
    const next = new Set(chosen);
    if (isIn) next.add(id);
    else next.delete(id);
    onChoose(next);
  };
  if (keys.length === 0)
    return (
      <Group>
        <Text c="dimmed">{t('access.noKeys')}</Text>
        <LinkTo to="/developers/ssh-keys">{t('access.addKey')}</LinkTo>
      </Group>
    );
  return (
    <Stack gap="xs">
      {keys.map(({ id, name, fingerprint }) => (
        <Tick
          key={id}
          name={`key-${id}`}
          label={name}
          help={fingerprint}
          isOn={chosen.has(id)}
          onChange={(isIn) => turn(id, isIn)}
        />
      ))}
    </Stack>
  );
}
