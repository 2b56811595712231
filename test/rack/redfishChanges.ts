import type { RackBmc } from './bmc.ts';
import type { RackRedfish, RedfishAccount } from './redfish.ts';

/** Does what was asked; answers what is wrong with it. */
type Change = () => Promise<string | undefined>;

const resets: Record<string, readonly string[]> = {
  On: ['set', 'power', '1'],
  ForceOff: ['set', 'power', '0'],
  GracefulShutdown: ['set', 'shutdown', '1'],
  ForceRestart: ['set', 'reset', '1'],
  PowerCycle: ['set', 'reset', '1'],
};
export const resetTypes = Object.keys(resets);
export const bootTargets: Record<string, string> = { None: 'none', Pxe: 'pxe', Hdd: 'default' };

/** Null where nothing can be done so. */
export function changeOf(
  method: string,
  path: string,
  body: Record<string, unknown>,
  stand: RackRedfish,
  rack: RackBmc,
): Change | null {
  if (method === 'POST' && path === '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset')
    return () => reset(String(body.ResetType), stand, rack);
  if (method !== 'PATCH') return null;
  if (path === '/redfish/v1/Systems/1' && body.Boot) return () => setBoot(body.Boot as object, stand, rack);
  const account = stand.state.accounts.find(({ id }) => path === `/redfish/v1/AccountService/Accounts/${id}`);
  return account ? () => changeAccount(account, body, rack) : null;
}

async function reset(
  type: string,
  { state, saysYes }: RackRedfish,
  rack: RackBmc,
): Promise<string | undefined> {
  const press = resets[type];
  if (press === undefined) return `no reset ${type}`;
  if (saysYes) return;
  await rack.press(...press);
  // What was chosen was for one start.
  if (type !== 'ForceOff' && type !== 'GracefulShutdown' && state.boot.BootSourceOverrideEnabled === 'Once')
    Object.assign(state.boot, { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideTarget: 'None' });
  return;
}

async function setBoot(
  wanted: object,
  { state, saysYes }: RackRedfish,
  rack: RackBmc,
): Promise<string | undefined> {
  const next = { ...state.boot, ...wanted };
  const target = bootTargets[next.BootSourceOverrideTarget];
  if (target === undefined) return `no target ${next.BootSourceOverrideTarget}`;
  if (!['Once', 'Disabled', 'Continuous'].includes(next.BootSourceOverrideEnabled))
    return 'not once and not disabled';
  if (!['Legacy', 'UEFI'].includes(next.BootSourceOverrideMode)) return 'no such mode';
  if (saysYes) return;
  state.boot = next;
  await rack.press('set', 'boot', next.BootSourceOverrideEnabled === 'Disabled' ? 'none' : target);
  await rack.press('set', 'firmware', next.BootSourceOverrideMode === 'UEFI' ? 'uefi' : 'bios');
  return;
}

/** Its accounts are those of IPMI, as on a real one. */
async function changeAccount(
  account: RedfishAccount,
  body: Record<string, unknown>,
  rack: RackBmc,
): Promise<string | undefined> {
  const { Password: password, RoleId: role, Enabled: isEnabled } = body;
  if (typeof password === 'string') {
    if (password.length < 8 || password.length > 20) return 'a password has 8 to 20 characters';
    await rack.tool('user', 'set', 'password', account.id, password);
    if (account.name === rack.connection.user) rack.connection.password = password;
    account.password = password;
  }
  if (typeof role === 'string') {
    if (!['Administrator', 'Operator', 'ReadOnly', 'NoAccess'].includes(role)) return `no role ${role}`;
    account.role = role;
  }
  if (typeof isEnabled === 'boolean') account.isEnabled = isEnabled;
  return undefined;
}
