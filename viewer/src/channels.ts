import type { Frame } from "./frame";
import type { FigureSpec, Scene } from "./scene";

const MOST_LINKS = 200; // of a figure, up to which each link has its own channels

/** Everything in a frame that can be plotted, by name. */
export interface Channel {
  name: string;
  unit: string;
  value(frame: Frame): number;
  impulse?(frame: Frame): number; // [N s] of impacts, drawn on top of forces
}

const length = (v: number[]) => Math.hypot(v[0]!, v[1]!, v[2]!);

/** The sum of the contact forces on a figure or on one of its links. */
function sum(frame: Frame, figure: number, link: number | undefined, what: "force" | "impulse"): number[] {
  const total = [0, 0, 0];
  for (const c of frame.contacts) {
    const is = (b: { figure: number; link: number }) => b.figure === figure && (link === undefined || b.link === link);
    const sign = (is(c.a) ? 1 : 0) - (is(c.b) ? 1 : 0);
    for (let k = 0; k < 3; ++k) total[k]! += sign * c[what][k]!;
  }
  return total;
}

function contactChannels(name: string, figure: number, link: number | undefined): Channel[] {
  const impulse = (frame: Frame) => length(sum(frame, figure, link, "impulse"));
  const axis = (k: number) => (frame: Frame) => sum(frame, figure, link, "force")[k]!;
  return [
    { name: `${name}/contact force`, unit: "N", value: (frame) => length(sum(frame, figure, link, "force")), impulse },
    ...["x", "y", "z"].map((letter, k) => ({ name: `${name}/contact force ${letter}`, unit: "N", value: axis(k), impulse })),
    { name: `${name}/contact impulse`, unit: "N s", value: impulse },
  ];
}

/** Units of q and of v; rotations are in radians. */
function units(figure: FigureSpec): { q: string[]; v: string[] } {
  const q: string[] = figure.q_names.map(() => "");
  const v: string[] = figure.v_names.map((name) => (/(^|\.)(omega|w)_?[xyz]$/.test(name) ? "rad/s" : /(^|\.)v_?[xyz]$/.test(name) ? "m/s" : ""));
  if (figure.base === "free") q.fill("m", 0, 3);
  for (const joint of figure.joints) {
    if (joint.follows) continue;
    (joint.rows ?? []).forEach((row, k) => {
      const column = row.terms[0]?.[0];
      if (column === undefined) return;
      q[column] = joint.chain.find((c) => c.coordinate === k)?.kind === "slide" ? "m" : "rad";
      const speed = figure.v_names.indexOf(figure.q_names[column]!);
      if (speed >= 0) v[speed] = `${q[column]}/s`;
    });
  }
  return { q, v };
}

export function channelsOf(scene: Scene): Channel[] {
  const found: Channel[] = scene.numbers.map((n, i) => ({ name: n.name, unit: n.unit, value: (f: Frame) => f.numbers[i] ?? NaN }));
  scene.figures.forEach((figure, f) => {
    found.push(...contactChannels(figure.name, f, undefined));
    const unit = units(figure);
    figure.q_names.forEach((name, i) => found.push({ name: `${figure.name}/q/${name}`, unit: unit.q[i]!, value: (frame) => frame.figures[f]?.q[i] ?? NaN }));
    figure.v_names.forEach((name, i) => found.push({ name: `${figure.name}/v/${name}`, unit: unit.v[i]!, value: (frame) => frame.figures[f]?.v[i] ?? NaN }));
    if (figure.links.length <= MOST_LINKS) figure.links.forEach((link, l) => link.shapes.length > 0 && found.push(...contactChannels(`${figure.name}/${link.name}`, f, l)));
  });
  return found;
}

/** Values of one channel over time. */
export class Series {
  readonly times: number[] = [];
  readonly values: number[] = [];
  readonly impulses: { time: number; value: number }[] = [];
  constructor(readonly channel: Channel) {}
  add(frame: Frame) {
    this.times.push(frame.time);
    this.values.push(this.channel.value(frame));
    const impulse = this.channel.impulse?.(frame) ?? 0;
    if (impulse > 0) this.impulses.push({ time: frame.time, value: impulse });
  }
  clear() {
    this.times.length = this.values.length = this.impulses.length = 0;
  }
  /** Discards samples before the time. */
  trim(before: number) {
    let n = 0;
    while (n < this.times.length && this.times[n]! < before) ++n;
    if (n > 256) {
      this.times.splice(0, n);
      this.values.splice(0, n);
      this.impulses.splice(0, this.impulses.findIndex((p) => p.time >= before) >>> 0);
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
  const multiples = (step: number) => {
    const found: number[] = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; ++k) found.push(k * step === 0 ? 0 : k * step);
    return found;
  };
  const first = [1, 2, 5, 10].findIndex((s) => s * power >= rough);
  const found = multiples([1, 2, 5, 10][first]! * power);
  return found.length > 1 ? found : multiples([0.5, 1, 2, 5][first]! * power); // a single tick shows no scale
}

/** Smallest and largest value; slightly apart if all are equal. */
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
