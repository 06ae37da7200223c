// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "../style/chart.css";

export interface ChartSeries {
  label: string;
  values: readonly (number | null)[];
  /** The name of a CSS variable, such as "--hold". */
  color: string;
  fill?: boolean;
}

interface Props {
  /** Seconds since 1970, one for each value. */
  at: readonly number[];
  series: readonly ChartSeries[];
  height: number;
  /** What it shows, for those who cannot see it. */
  label: string;
  format: (value: number) => string;
  /** How much time it shows, whether or not there are values for all of it. */
  seconds: number;
  /** Only whole numbers make sense. */
  whole?: boolean;
}

/** 1, 2, 5, 10, 20, 50 and so on. */
const WHOLE_STEPS = Array.from({ length: 21 }, (_, i) => ([1, 2, 5][i % 3] ?? 1) * 10 ** Math.floor(i / 3));

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function optionsFor(props: Props, width: number): uPlot.Options {
  const axis = { stroke: colour("--text-dim"), font: "11px system-ui, sans-serif", grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  return {
    width,
    height: props.height,
    padding: [8, 16, 0, 0],
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    legend: { show: false },
    scales: { x: { range: (_, __, last) => [last - props.seconds, last] }, y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, size: 22, space: 64, values: (_, splits) => splits.map((at) => tickText(at, (splits[1] ?? Infinity) - (splits[0] ?? 0))) },
      { ...axis, size: 46, space: 26, ...(props.whole === true ? { incrs: WHOLE_STEPS } : {}), values: (_, splits) => splits.map((value) => props.format(value)) },
    ],
    series: [
      {},
      ...props.series.map((one) => ({
        label: one.label,
        stroke: colour(one.color),
        width: 1.5,
        points: { show: false },
        ...(one.fill === true ? { fill: `${colour(one.color)}22` } : {}),
      })),
    ],
  };
}

const two = (value: number) => String(value).padStart(2, "0");

/** "14:02", with seconds where the ticks are closer than a minute. */
export function tickText(at: number, step: number): string {
  const date = new Date(at * 1000);
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return step < 60 ? `${minutes}:${two(date.getSeconds())}` : minutes;
}

function dataOf(props: Props): uPlot.AlignedData {
  return [[...props.at], ...props.series.map((one) => [...one.values])];
}

/** Tells what the cursor is on, in a line below the chart. */
function readout(chart: uPlot, props: Props): string {
  const i = chart.cursor.idx;
  if (i === null || i === undefined) return "";
  const at = props.at[i];
  if (at === undefined) return "";
  const values = props.series.map((one) => {
    const value = one.values[i];
    return `${one.label} ${value === null || value === undefined ? "–" : props.format(value)}`;
  });
  return `${new Date(at * 1000).toLocaleTimeString()}  ${values.join("  ")}`;
}

/** Charts are drawn by a part of the program that other pages start without. */
let plotter: typeof uPlot | null = null;

function usePlotter(): typeof uPlot | null {
  const [, setLoaded] = useState(plotter !== null);
  useEffect(() => {
    if (plotter !== null) return;
    let gone = false;
    // Where it cannot be loaded the numbers beside the charts are still there.
    import("uplot").then((module) => {
      plotter = module.default;
      if (!gone) setLoaded(true);
    }, () => undefined);
    return () => { gone = true; };
  }, []);
  return plotter;
}

/** A line chart over time. */
export function Chart(props: Props) {
  const Plot = usePlotter();
  const host = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  const chart = useRef<uPlot | null>(null);
  latest.current = props;

  // Colours are drawn into a canvas, so another theme needs another chart.
  useEffect(() => {
    const element = host.current;
    if (element === null || Plot === null) return;
    const draw = () => {
      chart.current?.destroy();
      const options = optionsFor(latest.current, Math.max(80, element.clientWidth));
      options.hooks = { setCursor: [(plot) => { if (line.current !== null) line.current.textContent = readout(plot, latest.current); }] };
      chart.current = new Plot(options, dataOf(latest.current), element);
    };
    draw();
    const size = new ResizeObserver(() => { chart.current?.setSize({ width: Math.max(80, element.clientWidth), height: latest.current.height }); });
    size.observe(element);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => {
      size.disconnect();
      theme.disconnect();
      dark.removeEventListener("change", draw);
      chart.current?.destroy();
      chart.current = null;
    };
  }, [Plot, props.series.length, props.height, props.seconds]);

  useEffect(() => { chart.current?.setData(dataOf(props)); }, [props.at, props.series]);

  return (
    <div class="chart">
      <div ref={host} role="img" aria-label={props.label} style={{ minHeight: `${props.height}px` }} />
      <div ref={line} class="readout dim" aria-hidden="true" />
    </div>
  );
}
