const advice: Readonly<Record<string, string>> = {
  not_supported:
    'The edge of this address cannot do what its rules ask for; what was in force before stays so',
  nothing_filters:
    'Nothing filters packets to this address at present: its rules are kept, and in force once something does',
  edge_silent:
    'The host that filters packets to this address is not heard of; what was in force before stays so there, and this comes into force once it is back',
  policy_invalid:
    'The edge does not take these rules; what was in force before stays so, and our staff has been told',
};
const otherwise =
  'The edge has not taken the rules; what was in force before stays so, it is tried again, and our staff has been told';

/** For customers: what the driver said is for staff. */
export function adviceOn(error: string): string {
  return advice[error.split(':', 1)[0] ?? ''] ?? otherwise;
}

/** The same of routers in front, which would drop what rules drop anyway, only earlier. */
export function adviceOnRouters(error: string): string {
  return error.startsWith('no room')
    ? 'It filters before your machine. The routers in front have no room for it at present, and get it as soon as they have'
    : 'It filters before your machine. The routers in front do not have it at present; it is tried again';
}
