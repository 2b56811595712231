import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../data/client.ts';
import { useText } from '../text/index.ts';
import { Button, Confirm, Copy, Refusal, Section, Text } from '../ui/index.ts';

interface RecoveryCodesProps {
  /** Those that were just made; null when there are only those that nobody sees again. */
  codes: readonly string[] | null;
  onCodes: (codes: readonly string[]) => void;
}

export function RecoveryCodes({ codes, onCodes }: RecoveryCodesProps) {
  const { t } = useText();
  const [isAsked, setAsked] = useState(false);
  const make = useMutation({
    mutationFn: async () => {
      const made = await client.post('/dashboard/account/2fa/recovery-codes');
      onCodes(made.recovery_codes);
    },
  });
  return (
    <Section title={t('security.recovery')}>
      <Text role="status">{t(codes === null ? 'security.recoveryText' : 'security.codes')}</Text>
      {codes !== null && <Copy text={codes.join('\n')} />}
      <Refusal error={make.error} />
      <Button
        variant="default"
        loading={make.isPending}
        onClick={() => setAsked(true)}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('security.recoveryMake')}
      </Button>
      <Confirm
        title={`${t('security.recoveryMake')}?`}
        text={t('security.recoveryLoses')}
        button={t('security.recoveryMake')}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => {
          setAsked(false);
          make.mutate();
        }}
      />
    </Section>
  );
}
