import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { service } from '../data/queries/index.ts';
import { ReinstallServer } from '../dedicated/Reinstall.tsx';
import { Skeleton } from '../ui/index.ts';
import { Reinstall as ReinstallMachine } from '../vps/Reinstall.tsx';

/** Another system, on whatever the service is. */
export function Reinstall() {
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  const { data: found } = useQuery(service(id));
  if (found === undefined) return <Skeleton height={320} />;
  return found.on_server ? <ReinstallServer id={id} /> : <ReinstallMachine />;
}
