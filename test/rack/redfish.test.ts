import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programIn, surroundings } from '../unpacked.ts';
import { type RackBmc, startBmc } from './bmc.ts';
import { rackTree, withoutRack } from './here.ts';
import { type RackRedfish, startRedfish } from './redfish.ts';

const run = promisify(execFile);

/** The stand-in is true as far as clients go along with it that nobody here wrote. */
describe.skipIf(withoutRack !== null)('the Redfish of our tests', () => {
  let rack: RackBmc;
  let stand: RackRedfish;
  beforeAll(async () => {
    rack = await startBmc(rackTree);
    stand = await startRedfish(rack);
  });
  afterAll(async () => {
    stand?.close();
    await rack?.close();
  });

  it('is driven by what OpenStack drives BMCs with', async () => {
    const { port, user, password } = stand.connection;
    const script = `
import sushy, json, warnings
warnings.simplefilter('ignore')
root = sushy.Sushy('https://127.0.0.1:${port}', '${user}', '${password}', verify=False)
system = root.get_system('/redfish/v1/Systems/1')
system.set_system_boot_options(sushy.BOOT_SOURCE_TARGET_PXE, mode=sushy.BOOT_SOURCE_MODE_UEFI, enabled=sushy.BOOT_SOURCE_ENABLED_ONCE)
system.refresh()
chosen = system.boot.target.value
system.reset_system(sushy.RESET_ON)
system.refresh()
chassis = root.get_chassis('/redfish/v1/Chassis/1')
print(json.dumps({
  'uuid': system.uuid, 'chosen': chosen, 'power': system.power_state.value, 'after': system.boot.target.value,
  'temperature': chassis.thermal.temperatures[0].reading_celsius,
  'resets': sorted(value.value for value in system.get_allowed_reset_system_values()),
  'manager': root.get_manager('/redfish/v1/Managers/1').firmware_version,
}))
`;
    const { stdout } = await run('python3', ['-c', script], { env: surroundings(rackTree) });
    expect(JSON.parse(stdout)).toEqual({
      ...{ uuid: stand.state.uuid, chosen: 'Pxe', power: 'On', after: 'None', temperature: 34 },
      resets: ['ForceOff', 'ForceRestart', 'GracefulShutdown', 'On', 'PowerCycle'],
      manager: '2.14.0',
    });
    expect(await rack.server()).toEqual({ runs: true, starts: ['network'] });
  });

  it('is driven by the standard’s own tool, and refuses it with a wrong password', async () => {
    const { port, user, password } = stand.connection;
    const tool = (secret: string, ...command: string[]) =>
      run(
        'python3',
        [
          programIn(rackTree, 'redfishtool'),
          '-r',
          `127.0.0.1:${port}`,
          '-u',
          user,
          '-p',
          secret,
          '-S',
          'Always',
          ...command,
        ],
        {
          env: surroundings(rackTree),
        },
      );
    const { stdout } = await tool(password, 'Systems', '-1');
    expect(JSON.parse(stdout)).toEqual(expect.objectContaining({ UUID: stand.state.uuid, PowerState: 'On' }));
    await tool(password, 'Systems', '-1', 'reset', 'ForceOff');
    expect((await rack.server()).runs).toBe(false);
    const accounts = await tool(password, 'AccountService', 'Accounts');
    expect(JSON.parse(accounts.stdout)['Members@odata.count']).toBe(2);
    await expect(tool('wrong-word-1', 'Systems', '-1')).rejects.toThrow();
  });
});
