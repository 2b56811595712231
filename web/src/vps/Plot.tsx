import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import { useComputedColorScheme } from '../ui/index.ts';

export interface Line {
  name: string;
  values: readonly (number | null)[];
}

interface PlotProps {
  /** Seconds since 1970. */
  times: readonly number[];
  lines: readonly Line[];
  /** The same in words, for whoever cannot see it. */
  label: string;
  sayTime: (seconds: number) => string;
  sayValue: (value: number) => string;
  /** Where the scale ends; null: at the largest value. */
  top: number | null;
}

const height = 180;
/** Where a tick of the scale is written. */
const axisWidth = 74;
const strokes = { light: ['#0b6e4f', '#9a4b00'], dark: ['#3db384', '#f2a65a'] };

/** Lines over time. */
export function Plot({ times, lines, label, sayTime, sayValue, top }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const { current: box } = place;
    if (box === null) return;
    const text = getComputedStyle(box).color;
    // Nobody forces the colours of a canvas; dashes tell the lines apart.
    const isForced = matchMedia('(forced-colors: active)').matches;
    const inks = isForced ? [text] : strokes[scheme];
    const grid = {
      stroke: isForced ? text : scheme === 'dark' ? '#3a3f47' : '#e3e6ea',
      width: isForced ? 0.5 : 1,
    };
    const axis = { stroke: text, grid, ticks: grid, font: '12px system-ui, sans-serif' };
    const plot = new UPlot(
      {
        width: box.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: true }, y: { range: (_plot, _min, max) => [0, top ?? Math.max(max, 1)] } },
        axes: [
          { ...axis, space: 90, values: (_plot, splits) => splits.map(sayTime) },
          { ...axis, size: axisWidth, values: (_plot, splits) => splits.map(sayValue) },
        ],
        series: [
          {},
          ...lines.map(({ name }, nth) => ({
            label: name,
            stroke: inks[nth % inks.length],
            width: 2,
            dash: nth === 0 ? undefined : [6, 4],
            points: { show: false },
          })),
        ],
      },
      [[...times], ...lines.map(({ values }) => [...values])],
      box,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [times, lines, sayTime, sayValue, top, scheme]);
  return <div ref={place} role="img" aria-label={label} className="plot" />;
}
