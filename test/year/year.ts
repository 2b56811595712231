import { dayAfter } from './books.ts';
import { holds } from './checks.ts';
import { Company } from './company.ts';
import { olderVersion } from './older.ts';
import { World } from './world.ts';

interface Year {
  seed: number;
  customers: number;
  months: number;
}

const startsOn = '2027-01-04';

/** What happens to the company itself, and after which part of the time. */
const troubles: { after: number; happens: (world: World, day: string) => Promise<void> }[] = [
  { after: 0.25, happens: upgrade },
  { after: 0.4, happens: loseTheDatabase },
  { after: 0.55, happens: dieAtNight },
  { after: 0.7, happens: restore },
  { after: 0.85, happens: loseTheDatabase },
];

/**
 * Plays so many months of a company: it begins on an older version, is upgraded, loses its database for minutes, dies in a
 * night's work, and is restored from a backup after its host has burnt down. Gives all that is wrong at the end.
 */
export async function playYear({ seed, customers, months }: Year): Promise<string[]> {
  const older = await olderVersion();
  if (older === null)
    console.log('There is no history to take an older version from: the upgrade is a restart.');
  const company = await Company.open(Date.parse(`${startsOn}T08:00:00Z`), older?.root);
  const world = await World.open(company, seed);
  try {
    await world.staff.hire();
    await world.staff.found();
    const days = Math.round(months * 30.4);
    world.invite(customers, Math.floor(days / 3));
    for (let nth = 0; nth < days; nth += 1) {
      const day = dayAfter(startsOn, nth);
      const trouble = troubles.find(({ after }) => Math.floor(after * days) === nth);
      await (trouble?.happens ?? oneDay)(world, day);
    }
    const wrong = await holds(world);
    console.log(`seed ${seed}: ${world.diary.tell()}`);
    return wrong;
  } finally {
    await company.close();
    await world.hooks.close();
    older?.remove();
  }
}

/** The night's work, the customers' morning, the staff's afternoon. */
async function oneDay(world: World, day: string): Promise<void> {
  await night(world, day);
  await morning(world, day);
  await afternoon(world, day);
}

async function night({ company }: World, day: string): Promise<void> {
  await company.passTo(Date.parse(`${day}T03:10:00Z`));
  await company.night();
}

async function morning(
  world: World,
  day: string,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<void> {
  await world.company.passTo(Date.parse(`${day}T09:00:00Z`));
  await Promise.all([world.customersDay(), meanwhile()]);
  await world.company.quiet();
}

async function afternoon(world: World, day: string): Promise<void> {
  await world.company.passTo(Date.parse(`${day}T15:00:00Z`));
  await world.staff.day();
  await world.company.quiet();
}

/** The operator stops it and starts the new version, which finds what the old one left. */
async function upgrade(world: World, day: string): Promise<void> {
  await world.company.upgrade();
  world.diary.count('the version is upgraded');
  await oneDay(world, day);
}

/** In the morning, while customers order and pay, the database is gone for seven minutes. */
async function loseTheDatabase(world: World, day: string): Promise<void> {
  await night(world, day);
  await morning(world, day, () => world.company.loseTheDatabase(7));
  world.diary.count('the database is gone');
  await afternoon(world, day);
}

/** The power goes in the middle of the night's work, and comes back an hour later. */
async function dieAtNight(world: World, day: string): Promise<void> {
  const { company } = world;
  await company.passTo(Date.parse(`${day}T03:10:00Z`));
  await company.dieInTheNight(150);
  await company.start();
  world.diary.count('the power goes at night');
  await company.passTo(Date.parse(`${day}T04:10:00Z`));
  await company.night();
  await morning(world, day);
  await afternoon(world, day);
}

/**
 * In the evening a backup is made. Then some customers pay by card what they owe, and the host burns down: what they have
 * paid only the payment provider knows, until the night.
 */
async function restore(world: World, day: string): Promise<void> {
  const { company } = world;
  await oneDay(world, day);
  const backup = await company.backup();
  await company.pass(60);
  for (const customer of world.customers) await customer.payByPage();
  await company.quiet();
  await company.die();
  await company.restore(backup);
  world.diary.count('a backup is restored');
  await company.quiet();
}
