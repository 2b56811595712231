import type en from '../text/en.json';
import { useText } from '../text/index.ts';

export type StateName = keyof (typeof en)['status'];

const tones: Partial<Record<StateName, 'good' | 'bad' | 'due'>> = {
  ...{ active: 'good', running: 'good', paid: 'good', success: 'good', ready: 'good', answered: 'good' },
  ...{ in_force: 'good', protected: 'good', coming: 'due', leaving: 'due', not_in_force: 'bad' },
  ...{ draft_new: 'due', draft_changed: 'due', draft_moved: 'due', under_attack: 'bad', attack_on: 'bad' },
  ...{ impaired: 'due', rescue: 'due' },
  ...{ suspended: 'bad', error: 'bad', overdue: 'bad', unpaid: 'due', pending: 'due', open: 'due' },
};

/** A state in words; the colour only says it once more. Lists have many: it is a plain element. */
export function State({ of: name }: { of: StateName }) {
  const { t } = useText();
  return (
    <span className="state" data-tone={tones[name]}>
      {t(`status.${name}`)}
    </span>
  );
}
