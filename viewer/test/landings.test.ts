import { describe, expect, it } from "vitest";
import type { Frame } from "../src/frame";
import { Landings } from "../src/landings";

/** Frames at 100 Hz; `touches` says whether link 1 touches the world. */
function marks(seconds: number, touches: (t: number) => boolean) {
  const landings = new Landings((body) => (body.figure < 0 ? "" : `link${body.link}`));
  for (let i = 0; i <= 100 * seconds; ++i) {
    const time = i / 100;
    const contact = { a: { figure: 0, link: 1 }, b: { figure: -1, link: -1 }, point: [0, 0, 0], normal: [0, 0, 1], force: [0, 0, touches(time) ? 5 : 0], moment: [0, 0, 0], impulse: [0, 0, 0], state: 1 };
    landings.add({ time, figures: [], contacts: [contact], connections: [], numbers: new Float64Array(), events: [] } as unknown as Frame);
  }
  return landings.finish();
}

describe("touchdown and lift-off", () => {
  it("are where forces begin and end", () => {
    expect(marks(2, (t) => t >= 0.5 && t < 1.2)).toEqual([{ time: 0.5, text: "touch link1" }, { time: 1.19, text: "lift link1" }]);
  });
  it("are not at the start and the end of a recording", () => {
    expect(marks(1, () => true)).toEqual([]);
    expect(marks(1, () => false)).toEqual([]);
  });
  it("need a gap of more than 50 ms", () => {
    expect(marks(1, (t) => t < 0.5 || t > 0.52)).toEqual([]);
    expect(marks(1, (t) => t < 0.5 || t > 0.57).length).toBe(2);
  });
  it("are left to heaps where there are more than 400", () => {
    expect(marks(60, (t) => (t * 5) % 1 < 0.5)).toEqual([]);
  });
});
