import type { Frame } from "./frame";
import type { Scene } from "./scene";

/** Everything in a frame that can be plotted, by name. */
export interface Channel {
  name: string;
  unit: string;
  value(frame: Frame): number;
}

export function channelsOf(scene: Scene): Channel[] {
  const found: Channel[] = scene.numbers.map((n, i) => ({ name: n.name, unit: n.unit, value: (f: Frame) => f.numbers[i] ?? NaN }));
  scene.figures.forEach((figure, f) => {
    found.push({
      name: `${figure.name}/contact force`,
      unit: "N",
      value: (frame) => {
        let x = 0, y = 0, z = 0;
        for (const c of frame.contacts) {
          const sign = (c.a.figure === f ? 1 : 0) - (c.b.figure === f ? 1 : 0);
          x += sign * c.force[0]!;
          y += sign * c.force[1]!;
          z += sign * c.force[2]!;
        }
        return Math.hypot(x, y, z);
      },
    });
    figure.q_names.forEach((name, i) => found.push({ name: `${figure.name}/q/${name}`, unit: "", value: (frame) => frame.figures[f]?.q[i] ?? NaN }));
    figure.v_names.forEach((name, i) => found.push({ name: `${figure.name}/v/${name}`, unit: "", value: (frame) => frame.figures[f]?.v[i] ?? NaN }));
  });
  return found;
}

/** Values of one channel over time. */
export class Series {
  readonly times: number[] = [];
  readonly values: number[] = [];
  constructor(readonly channel: Channel) {}
  add(frame: Frame) {
    this.times.push(frame.time);
    this.values.push(this.channel.value(frame));
  }
  /** Forgets what is older than the time. */
  trim(before: number) {
    let n = 0;
    while (n < this.times.length && this.times[n]! < before) ++n;
    if (n > 256) {
      this.times.splice(0, n);
      this.values.splice(0, n);
    }
  }
  /** The value at or before the time. */
  at(time: number): number {
    let low = 0, high = this.times.length - 1;
    if (high < 0) return NaN;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle]! <= time + 1e-9) low = middle;
      else high = middle - 1;
    }
    return this.values[low]!;
  }
}

/** Round numbers that divide a range into a few steps. */
export function ticks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((s) => s * power >= rough) ?? 10) * power;
  const found: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; ++k) found.push(k * step === 0 ? 0 : k * step);
  return found;
}

/** Smallest and largest value; a little more than nothing where all are the same. */
export function rangeOf(values: number[]): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const pad = 0.06 * (high - low) || Math.max(1e-3, 0.05 * Math.abs(high));
  return [low - pad, high + pad];
}
