import type { Schema } from '../../../client/index.ts';
import { useText } from '../text/index.ts';
import { Field, type Values } from '../ui/index.ts';

type Thresholds = Schema<'ShieldProduct'>['thresholds'];

export const kinds = [
  ...(['reflection', 'udp', 'syn', 'ack'] as const),
  ...(['icmp', 'fragments', 'other', 'total'] as const),
] as const;
export const units = ['pps', 'mbps'] as const;
export type Kind = (typeof kinds)[number];
export type Unit = (typeof units)[number];

/** From where on each kind of traffic is an attack; what is empty goes by what `help` says of it. */
export function ThresholdFields({
  now,
  help,
}: {
  now: Thresholds;
  help: (kind: Kind, unit: Unit) => string;
}) {
  const { t } = useText();
  return (
    <div className="thresholds">
      {kinds.map((kind) => (
        <fieldset key={kind} className="threshold">
          <legend>{t(`shield.kind_${kind}`)}</legend>
          {/* A grid of its own: a legend stands in none. */}
          <div>
            {units.map((unit) => (
              <Field
                key={unit}
                name={`thresholds.${kind}.${unit}`}
                label={t(`shield.unit_${unit}`)}
                help={help(kind, unit)}
                required={false}
                defaultValue={String(now[kind]?.[unit] ?? '')}
              />
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}

/** What was typed into them: null for what goes by something else again. */
export function thresholdsIn(values: Values) {
  const numberIn = (name: string) => (values[name] === undefined ? null : Number(values[name]));
  return Object.fromEntries(
    kinds.map((kind) => {
      const [pps = null, mbps = null] = units.map((unit) => numberIn(`thresholds.${kind}.${unit}`));
      return [kind, pps === null && mbps === null ? null : { pps, mbps }];
    }),
  );
}
