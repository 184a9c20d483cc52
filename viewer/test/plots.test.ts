import { describe, expect, it } from "vitest";
import { Series, rangeOf, ticks } from "../src/channels";
import { svgOf } from "../src/plots";
import type { Frame } from "../src/frame";

const frame = (time: number, value: number): Frame => ({ time, figures: [], contacts: [], connections: [], numbers: new Float64Array([value]), events: [] });
const channel = { name: "a <b>", unit: "N", value: (f: Frame) => f.numbers[0]! };

describe("plots", () => {
  it("divides ranges by round numbers", () => {
    expect(ticks(0, 1, 4)).toEqual([0, 0.5, 1]);
    expect(ticks(-1, 1, 4)).toEqual([-1, -0.5, 0, 0.5, 1]);
    expect(ticks(5, 5, 4)).toEqual([5]);
    for (const t of ticks(0.013, 0.187, 5)) expect(Math.abs(t * 20 - Math.round(t * 20))).toBeLessThan(1e-9);
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
