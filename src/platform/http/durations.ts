import { Histogram, type MetricObjectWithValues, type MetricValueWithName, type Registry } from 'prom-client';

const boundsS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const name = 'innkeeper_http_request_duration_seconds';
const help = 'Time from the first byte of a request to the last of its answer.';

interface Series {
  labels: { method: string; route: string; status: string };
  /** How many requests took longer than the bound before and at most this one; the last had no bound. */
  counts: number[];
  sumS: number;
}

/**
 * How long requests took. It counts in plain arrays and makes Prometheus' lines when they are asked for: the
 * library's own counting checks and hashes the labels each time, which was a twentieth of a cheap request.
 */
export class RequestDurations extends Histogram {
  readonly #series = new Map<string, Series>();

  constructor(registry: Registry) {
    super({
      name,
      help,
      labelNames: ['method', 'route', 'status'],
      buckets: boundsS,
      registers: [registry],
    });
  }

  /** `status` is the answer's code; it is kept by its class, such as `2xx`. */
  count(method: string, route: string, status: number, seconds: number): void {
    const statusClass = Math.floor(status / 100);
    const key = `${statusClass}${method} ${route}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      const labels = { method, route, status: `${statusClass}xx` };
      series = { labels, counts: Array<number>(boundsS.length + 1).fill(0), sumS: 0 };
      this.#series.set(key, series);
    }
    let bucket = 0;
    while (bucket < boundsS.length && seconds > (boundsS[bucket] as number)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sumS += seconds;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const values = [...this.#series.values()].flatMap(linesOf);
    // The library's types want a `collect` that nothing reads, and an enumeration that it does not export.
    const metric: object = { name, help, type: 'histogram', aggregator: 'sum', values };
    return metric as MetricObjectWithValues<MetricValueWithName<string>>;
  }

  /** What the registry prefers to `get` when it writes its text. */
  getForPromString(): ReturnType<RequestDurations['get']> {
    return this.get();
  }
}

function linesOf({ labels, counts, sumS }: Series): MetricValueWithName<string>[] {
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return {
      metricName: `${name}_bucket`,
      labels: { ...labels, le: boundsS[index] ?? '+Inf' },
      value: total,
    };
  });
  const sum = { metricName: `${name}_sum`, labels, value: sumS };
  return [...buckets, sum, { metricName: `${name}_count`, labels, value: total }];
}
