import { describe, expect, it } from "vitest";
import { Series, rangeOf, ticks } from "../src/channels";
import { labelled, svgOf, timeTicks } from "../src/plots";
import type { Frame } from "../src/frame";

const frame = (time: number, value: number): Frame => ({ time, figures: [], contacts: [], connections: [], numbers: new Float64Array([value]), events: [] });
const channel = { name: "a <b>", unit: "N", value: (f: Frame) => f.numbers[0]! };

describe("plots", () => {
  it("divides ranges by round numbers", () => {
    expect(ticks(0, 1, 4)).toEqual([0, 0.5, 1]);
    expect(ticks(-1, 1, 4)).toEqual([-1, -0.5, 0, 0.5, 1]);
    expect(ticks(5, 5, 4)).toEqual([5]);
    expect(ticks(-400, 800, 2)).toEqual([0, 500]); // not 0 alone, in steps of 1000
    for (let i = 0; i < 200; ++i) {
      const low = -1 + i * 0.0137, high = low + 0.1 + i * 0.031;
      expect(ticks(low, high, 3).length).toBeGreaterThan(1);
      expect(ticks(low, high, 3).length).toBeLessThan(7);
    }
    for (const t of ticks(0.013, 0.187, 5)) expect(Math.abs(t * 20 - Math.round(t * 20))).toBeLessThan(1e-9);
  });
  it("labels ticks with all their digits", () => {
    const labels = (low: number, high: number, count = 3) => labelled(low, high, count).map(([, label]) => label);
    expect(labels(0, 2400)).toEqual(["0", "1000", "2000"]);
    expect(labels(-120, 0, 3)).toEqual(["−100", "−50", "0"]);
    expect(labels(0, 0.3)).toEqual(["0.0", "0.1", "0.2", "0.3"]);
    expect(labels(9.94, 10.06, 3)).toEqual(["9.95", "10.00", "10.05"]);
    expect(labels(0, 2.5e7, 2)).toEqual(["0", "20000000"]);
    expect(labels(0, 3e-7, 3)).toEqual(["0", "1e−7", "2e−7", "3e−7"]);
  });
  it("gives the unit of time at the last tick", () => {
    expect(timeTicks(0, 10, 5).map(([, label]) => label)).toEqual(["0", "2", "4", "6", "8", "10 s"]);
  });
  it("pads ranges, those of constants, too", () => {
    expect(rangeOf([1, 1])[0]).toBeLessThan(1);
    expect(rangeOf([])).toEqual([0, 1]);
    expect(rangeOf([NaN, 2, 3])[1]).toBeGreaterThan(3);
  });
  it("finds values at and between times, and forgets old ones", () => {
    const series = new Series(channel);
    for (let i = 0; i < 1000; ++i) series.add(frame(i / 10, i));
    expect(series.at(5)).toBe(50);
    expect(series.at(5.05)).toBe(50);
    expect(series.at(-1)).toBe(0);
    series.trim(60);
    expect(series.times[0]).toBe(60);
  });
  it("writes drawings that are XML", () => {
    const series = new Series(channel);
    for (let i = 0; i < 10; ++i) series.add(frame(i, i * i));
    const svg = svgOf([{ series, color: "#0072b2" }], [0, 9]);
    expect(svg).toContain("a &lt;b&gt; [N]");
    expect(svg.match(/<polyline/g)).toHaveLength(1);
  });
});
