const advice: Readonly<Record<string, string>> = {
  not_supported:
    'The edge of this address cannot do what its rules ask for; what was in force before stays so',
  nothing_filters:
    'Nothing filters packets to this address at present: its rules are kept, and in force once something does',
  policy_invalid:
    'The edge does not take these rules; what was in force before stays so, and our staff has been told',
};
const otherwise =
  'The edge has not taken the rules; what was in force before stays so, it is tried again, and our staff has been told';

/** For customers: what the driver said is for staff. */
export function adviceOn(error: string): string {
  return advice[error.split(':', 1)[0] ?? ''] ?? otherwise;
}
