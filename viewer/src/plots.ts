import { Series, rangeOf, ticks, type Channel } from "./channels";
import { byId, download, make, pretty, tickLabel } from "./dom";
import type { Frame } from "./frame";
import { icon } from "./icons";
import { DATA_COLORS, IMPACT } from "./theme";

/** Plots below the scene, one above the other, all on the time line. */

interface Row {
  series: Series;
  color: string;
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  value: HTMLOutputElement;
}

/** Reads all frames and passes them on in pieces; in live mode the past ones. */
export type Scanner = (visit: (frames: Frame[], share: number) => boolean | void) => Promise<void>;

const LEFT = 54;

export class Plots {
  private readonly rows: Row[] = [];
  private readonly area = byId("plot-rows");
  private time = 0;

  constructor(
    private readonly channels: Channel[], private readonly span: () => [number, number], private readonly scan: Scanner,
    private readonly seek: (time: number) => void,
  ) {
    this.hint();
  }

  get known() {
    return this.channels.map((c) => c.name);
  }
  get names() {
    return this.rows.map((r) => r.series.channel.name);
  }

  private hint() {
    if (this.rows.length > 0) return;
    this.area.replaceChildren(make("p", { class: "hint" }, "Choose a channel above, or click the plot icon of a joint."));
  }

  /** Adds a channel by name; false if there is none. */
  add(name: string): boolean {
    const channel = this.channels.find((c) => c.name === name);
    if (!channel || this.names.includes(name)) return !!channel;
    if (this.rows.length === 0) this.area.replaceChildren();
    const color = DATA_COLORS.find((c) => !this.rows.some((r) => r.color === c)) ?? DATA_COLORS[0]!;
    const canvas = make("canvas", { role: "img", "aria-label": `Plot of ${name}` });
    const value = make("output");
    const close = make("button", { class: "icon", "aria-label": `Remove ${name}`, onclick: () => this.remove(name) });
    close.innerHTML = icon("close");
    const label = make("b", {}, name);
    label.style.color = `color-mix(in srgb, ${color} 70%, var(--text))`;
    const element = make("div", { class: "plot" }, canvas, make("header", {}, label, make("span", { class: "quiet" }, channel.unit), value, close));
    const row: Row = { series: new Series(channel), color, element, canvas, value };
    const scrub = (event: PointerEvent) => {
      if (event.buttons !== 1) return;
      const box = canvas.getBoundingClientRect();
      const [start, end] = this.span();
      this.seek(start + (end - start) * Math.min(1, Math.max(0, (event.clientX - box.left - LEFT) / (box.width - LEFT - 6))));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      scrub(event);
    });
    canvas.addEventListener("pointermove", scrub);
    this.rows.push(row);
    this.area.append(element);
    void this.scan((frames, share) => {
      if (!this.rows.includes(row)) return false;
      for (const frame of frames) row.series.add(frame);
      if (share === 1 || Math.random() < 0.1) this.draw();
      return true;
    }).catch(() => undefined);
    this.draw();
    return true;
  }

  remove(name: string) {
    const i = this.rows.findIndex((r) => r.series.channel.name === name);
    if (i < 0) return;
    this.rows[i]!.element.remove();
    this.rows.splice(i, 1);
    this.hint();
  }

  /** Adds a new frame, in live mode. */
  push(frame: Frame, keep: number) {
    for (const { series } of this.rows) {
      if (frame.time < (series.times[series.times.length - 1] ?? -Infinity)) series.clear();
      series.add(frame);
      series.trim(frame.time - keep);
    }
  }

  show(time: number) {
    this.time = time;
    this.draw();
  }

  draw() {
    for (const row of this.rows) this.drawRow(row);
  }

  private drawRow({ series, color, canvas, value }: Row) {
    const ratio = devicePixelRatio;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (width === 0) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const g = canvas.getContext("2d")!;
    const style = getComputedStyle(canvas);
    const [start, end] = this.span();
    const [low, high] = rangeOf(series.values);
    const right = width - 6, top = 20, bottom = height - 16;
    const x = (t: number) => LEFT + ((t - start) / Math.max(end - start, 1e-9)) * (right - LEFT);
    const y = (v: number) => bottom - ((v - low) / (high - low)) * (bottom - top);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = style.getPropertyValue("--quiet");
    g.strokeStyle = style.getPropertyValue("--line");
    g.lineWidth = 1;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const [v, label] of labelled(low, high, 3)) {
      line(g, LEFT, y(v), right, y(v));
      g.fillText(label, LEFT - 6, y(v));
    }
    g.textAlign = "center";
    g.textBaseline = "top";
    for (const [t, label] of timeTicks(start, end, 8)) {
      line(g, x(t), bottom, x(t), bottom + 3);
      g.fillText(label, x(t), bottom + 4);
    }
    g.strokeStyle = color;
    g.lineWidth = 1.6;
    g.lineJoin = "round";
    curve(g, series, x, y);
    impulses(g, series, x, top, bottom);
    g.strokeStyle = style.getPropertyValue("--text");
    g.lineWidth = 1;
    line(g, x(this.time), top - 4, x(this.time), bottom);
    value.textContent = pretty(series.at(this.time));
  }

  saveCsv() {
    if (this.rows.length === 0) return;
    const lines = [["time", ...this.names.map((n) => (/[",]/.test(n) ? `"${n.replace(/"/g, '""')}"` : n))].join(",")];
    const times = this.rows[0]!.series.times;
    times.forEach((t, i) => lines.push([t, ...this.rows.map((r) => r.series.values[i] ?? "")].join(",")));
    download("plots.csv", new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  }

  saveSvg() {
    if (this.rows.length === 0) return;
    download("plots.svg", new Blob([svgOf(this.rows.map((r) => ({ series: r.series, color: r.color })), this.span())], { type: "image/svg+xml" }));
  }
}

function line(g: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number) {
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x2, y2);
  g.stroke();
}

/** Ticks with their labels. */
export function labelled(low: number, high: number, count: number): [number, string][] {
  const found = ticks(low, high, count);
  const step = found.length > 1 ? found[1]! - found[0]! : Math.abs(found[0]!) || 1;
  return found.map((v) => [v, tickLabel(v, step)]);
}

/** Ticks of time: the last one has the unit. */
export function timeTicks(start: number, end: number, count: number): [number, string][] {
  return labelled(start, end, count).map(([v, label], i, all) => [v, i === all.length - 1 ? `${label} s` : label]);
}

/** Draws the series; as ranges if many samples share a pixel. */
function curve(g: CanvasRenderingContext2D, series: Series, x: (t: number) => number, y: (v: number) => number) {
  g.beginPath();
  let column = NaN, low = 0, high = 0, pen = false;
  series.times.forEach((t, i) => {
    const v = y(series.values[i]!), at = Math.round(x(t) * 2) / 2;
    if (!Number.isFinite(v)) {
      pen = false;
      return;
    }
    if (at === column && pen) {
      low = Math.min(low, v);
      high = Math.max(high, v);
      g.lineTo(at, low);
      g.lineTo(at, high);
    } else if (pen) g.lineTo(at, v);
    else g.moveTo(at, v);
    if (at !== column) low = high = v;
    column = at;
    pen = true;
  });
  g.stroke();
}

/** Impacts as stems, in proportion to the largest impulse, which is labelled. */
function impulses(g: CanvasRenderingContext2D, series: Series, x: (t: number) => number, top: number, bottom: number) {
  if (series.impulses.length === 0) return;
  const largest = series.impulses.reduce((a, b) => (b.value > a.value ? b : a));
  g.strokeStyle = g.fillStyle = `#${IMPACT.getHexString()}`;
  g.lineWidth = 1.4;
  for (const { time, value } of series.impulses) {
    const tip = bottom - (value / largest.value) * (bottom - top);
    line(g, x(time), bottom, x(time), tip);
    g.beginPath();
    g.arc(x(time), tip, 2, 0, 7);
    g.fill();
  }
  g.textAlign = "left";
  g.textBaseline = "middle";
  g.fillText(`${pretty(largest.value)} N s`, x(largest.time) + 5, top + 3);
}

/** The plots as SVG. */
export function svgOf(rows: { series: Series; color: string }[], [start, end]: [number, number]): string {
  const W = 720, H = 130, L = 62;
  const escape = (s: string) => s.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]!);
  const parts = rows.map(({ series, color }, i) => {
    const [low, high] = rangeOf(series.values);
    const top = i * H + 24, bottom = i * H + H - 22;
    const x = (t: number) => L + ((t - start) / Math.max(end - start, 1e-9)) * (W - L - 12);
    const y = (v: number) => bottom - ((v - low) / (high - low)) * (bottom - top);
    const points = series.times.map((t, k) => `${x(t).toFixed(1)},${y(series.values[k]!).toFixed(1)}`).join(" ");
    const grid = labelled(low, high, 3)
      .map(([v, label]) => `<path d="M${L} ${y(v).toFixed(1)}H${W - 12}" stroke="#d0d7de"/><text x="${L - 6}" y="${(y(v) + 4).toFixed(1)}" text-anchor="end">${label}</text>`)
      .join("");
    const axis = timeTicks(start, end, 8).map(([t, label]) => `<text x="${x(t).toFixed(1)}" y="${bottom + 15}" text-anchor="middle">${label}</text>`).join("");
    const unit = series.channel.unit ? ` [${escape(series.channel.unit)}]` : "";
    return `${grid}${axis}<polyline points="${points}" fill="none" stroke="${color}" stroke-width="1.5"/><text x="${L}" y="${top - 8}" font-weight="600">${escape(series.channel.name)}${unit}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${W}" height="${rows.length * H}" font-family="sans-serif" font-size="11" fill="#24292f">${parts.join("")}</svg>\n`;
}
