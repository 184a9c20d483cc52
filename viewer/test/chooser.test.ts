import { describe, expect, it } from "vitest";
import { best, fit } from "../src/chooser";
import { Past } from "../src/past";
import { LiveFrame } from "../src/live_frame";

describe("channels are found by a few letters", () => {
  const names = ["kinetic energy", "walker/q/hipL_y", "walker/tau/hipL_y", "walker/tau/kneeL_y", "walker/contact force"];
  it("whole words anywhere, in any order", () => {
    expect(best("hip tau", names, 3)).toEqual(["walker/tau/hipL_y"]);
    expect(best("energy", names, 3)[0]).toBe("kinetic energy");
  });
  it("letters with gaps", () => {
    expect(best("wthip", names, 3)[0]).toBe("walker/tau/hipL_y");
    expect(fit("xyz", "kinetic energy")).toBeUndefined();
  });
  it("everything for nothing", () => expect(best("", names, 10)).toHaveLength(names.length));
});

describe("the past of a running simulation", () => {
  const none = { contacts: [], connections: [] };
  const frame = (time: number, numbers = 0) => new LiveFrame(time, [], new Float32Array(numbers), none, { figures: [], states: 0, fixed: numbers });
  it("is looked up by time, and forgotten", () => {
    const past = new Past(10);
    for (let i = 0; i <= 300; ++i) past.add(frame(i / 10));
    expect(past.end).toBe(30);
    expect(past.start).toBeGreaterThanOrEqual(20 - 6.5); // pruned 64 frames at a time
    expect(past.at(25.04)!.time).toBe(25);
    expect(past.beside(25, -1)!.time).toBe(24.9);
    expect(past.beside(30, 1)).toBeUndefined();
  });
  it("ends where the simulation was taken back to", () => {
    const past = new Past(10);
    for (let i = 0; i <= 50; ++i) past.add(frame(i / 10));
    past.add(frame(2));
    expect(past.end).toBe(2);
    expect(past.at(4)!.time).toBe(2);
  });
  it("is bounded in bytes", () => {
    const past = new Past(1e9, 1e6);
    for (let i = 0; i < 1000; ++i) past.add(frame(i, 2500)); // 10 kB each
    expect(past.end - past.start).toBeGreaterThan(80);
    expect(past.end - past.start).toBeLessThan(110); // a tenth more, before it is pruned
  });
});
