import type { RackBmc } from './bmc.ts';
import type { RedfishState } from './redfish.ts';
import { bootTargets, resetTypes } from './redfishChanges.ts';

const root = '/redfish/v1';
const [system, chassis, manager] = [`${root}/Systems/1`, `${root}/Chassis/1`, `${root}/Managers/1`];
const accounts = `${root}/AccountService/Accounts`;
const log = `${system}/LogServices/Log1`;
const ok = { State: 'Enabled', Health: 'OK' };

const link = (path: string) => ({ '@odata.id': path });

function resource(path: string, type: string, version: string, name: string, more: object): [string, object] {
  const id = path.split('/').at(-1);
  const head = { '@odata.id': path, '@odata.type': `#${type}.${version}.${type}`, Id: id, Name: name };
  return [path, { ...head, ...more }];
}

function collection(path: string, type: string, members: readonly string[]): [string, object] {
  const head = {
    '@odata.id': path,
    '@odata.type': `#${type}Collection.${type}Collection`,
    Name: `${type} collection`,
  };
  return [path, { ...head, Members: members.map(link), 'Members@odata.count': members.length }];
}

/** All that there is to read, by its path, as of now. */
export async function resourcesOf(state: RedfishState, rack: RackBmc): Promise<Record<string, object>> {
  const power = (await rack.press('get', 'power')).includes('power:1') ? 'On' : 'Off';
  return Object.fromEntries([
    ...services(state),
    ...server(state, power),
    ...state.accounts.map(({ id, name, role, isEnabled }) =>
      resource(`${accounts}/${id}`, 'ManagerAccount', 'v1_8_0', name, {
        ...{ UserName: name, Password: null, RoleId: role, Enabled: isEnabled, Locked: false },
        AccountTypes: ['Redfish'],
      }),
    ),
  ]);
}

function services({ accounts: all, sessions, uuid, vendor }: RedfishState): [string, object][] {
  return [
    [
      root,
      {
        ...{
          '@odata.id': `${root}/`,
          '@odata.type': '#ServiceRoot.v1_9_0.ServiceRoot',
          Id: 'RootService',
          Name: 'Root',
        },
        ...{ RedfishVersion: '1.11.0', UUID: uuid, Vendor: vendor },
        ...{
          Systems: link(`${root}/Systems`),
          Chassis: link(`${root}/Chassis`),
          Managers: link(`${root}/Managers`),
        },
        ...{ SessionService: link(`${root}/SessionService`), AccountService: link(`${root}/AccountService`) },
        Links: { Sessions: link(`${root}/SessionService/Sessions`) },
      },
    ],
    collection(`${root}/Systems`, 'ComputerSystem', [system]),
    collection(`${root}/Chassis`, 'Chassis', [chassis]),
    collection(`${root}/Managers`, 'Manager', [manager]),
    resource(`${root}/SessionService`, 'SessionService', 'v1_1_8', 'Sessions', {
      ...{ ServiceEnabled: true, SessionTimeout: 300, Sessions: link(`${root}/SessionService/Sessions`) },
    }),
    collection(`${root}/SessionService/Sessions`, 'Session', [...sessions.values()]),
    resource(`${root}/AccountService`, 'AccountService', 'v1_10_0', 'Accounts', {
      ...{ MinPasswordLength: 8, MaxPasswordLength: 20, Accounts: link(accounts) },
    }),
    collection(
      accounts,
      'ManagerAccount',
      all.map(({ id }) => `${accounts}/${id}`),
    ),
  ];
}

function server({ boot, log: events, uuid, ipmiPort }: RedfishState, power: string): [string, object][] {
  return [
    resource(system, 'ComputerSystem', 'v1_13_0', 'server', {
      ...{
        SystemType: 'Physical',
        UUID: uuid,
        SerialNumber: 'R1-0001',
        Manufacturer: 'Example',
        Model: 'R1',
      },
      ...{ PowerState: power, Status: ok, MemorySummary: { TotalSystemMemoryGiB: 2 } },
      ProcessorSummary: { Count: 1, Model: 'emulated' },
      Boot: {
        ...boot,
        'BootSourceOverrideTarget@Redfish.AllowableValues': Object.keys(bootTargets),
        'BootSourceOverrideMode@Redfish.AllowableValues': ['Legacy', 'UEFI'],
      },
      SerialConsole: { MaxConcurrentSessions: 1, IPMI: { ServiceEnabled: true, Port: ipmiPort } },
      LogServices: link(`${system}/LogServices`),
      Links: { Chassis: [link(chassis)], ManagedBy: [link(manager)] },
      Actions: {
        '#ComputerSystem.Reset': {
          target: `${system}/Actions/ComputerSystem.Reset`,
          'ResetType@Redfish.AllowableValues': resetTypes,
        },
      },
    }),
    collection(`${system}/LogServices`, 'LogService', [log]),
    resource(log, 'LogService', 'v1_2_0', 'event log', { Entries: link(`${log}/Entries`) }),
    [
      `${log}/Entries`,
      {
        ...{
          '@odata.id': `${log}/Entries`,
          '@odata.type': '#LogEntryCollection.LogEntryCollection',
          Name: 'entries',
        },
        Members: events.map(({ id, created, message }) => ({
          ...{
            '@odata.id': `${log}/Entries/${id}`,
            '@odata.type': '#LogEntry.v1_8_0.LogEntry',
            Id: id,
            Name: 'entry',
          },
          ...{ EntryType: 'SEL', Created: created, Message: message, SensorType: 'Temperature' },
        })),
        'Members@odata.count': events.length,
      },
    ],
    resource(chassis, 'Chassis', 'v1_14_0', 'chassis', {
      ...{ ChassisType: 'RackMount', Thermal: link(`${chassis}/Thermal`), Power: link(`${chassis}/Power`) },
      Links: { ComputerSystems: [link(system)], ManagedBy: [link(manager)] },
    }),
    resource(`${chassis}/Thermal`, 'Thermal', 'v1_7_0', 'thermal', {
      Temperatures: [
        {
          ...{
            '@odata.id': `${chassis}/Thermal#/Temperatures/0`,
            MemberId: '0',
            Name: 'CPU Temp',
            Status: ok,
          },
          ...{ ReadingCelsius: 34, UpperThresholdNonCritical: 112, UpperThresholdCritical: 144 },
        },
      ],
      Fans: [
        {
          ...{ '@odata.id': `${chassis}/Thermal#/Fans/0`, MemberId: '0', Name: 'Fan 1', Status: ok },
          ...{ Reading: 5400, ReadingUnits: 'RPM' },
        },
      ],
    }),
    resource(`${chassis}/Power`, 'Power', 'v1_7_0', 'power', {
      PowerControl: [
        {
          '@odata.id': `${chassis}/Power#/PowerControl/0`,
          MemberId: '0',
          Name: 'Server',
          PowerConsumedWatts: 84,
        },
      ],
    }),
    resource(manager, 'Manager', 'v1_12_0', 'BMC', {
      ...{
        ManagerType: 'BMC',
        FirmwareVersion: '2.14.0',
        Status: ok,
        Links: { ManagerForServers: [link(system)] },
        NetworkProtocol: link(`${manager}/NetworkProtocol`),
      },
    }),
    resource(`${manager}/NetworkProtocol`, 'ManagerNetworkProtocol', 'v1_8_0', 'protocols', {
      ...{ HostName: 'bmc', Status: ok, HTTP: { ProtocolEnabled: false, Port: 80 } },
      ...{ HTTPS: { ProtocolEnabled: true, Port: 443 }, SSH: { ProtocolEnabled: false, Port: 22 } },
      IPMI: { ProtocolEnabled: true, Port: ipmiPort },
    }),
  ];
}
