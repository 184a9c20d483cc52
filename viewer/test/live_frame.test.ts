import { describe, expect, it } from "vitest";
import { LiveFrames } from "../src/live_frame";
import type { Scene } from "../src/scene";

/** A message, number by number: docs/formats/live.md. */
class Message {
  private readonly parts: number[] = [];
  u8(...values: number[]) {
    this.parts.push(...values);
    return this;
  }
  u32(...values: number[]) {
    return this.add(Int32Array.from(values));
  }
  f32(...values: number[]) {
    return this.add(Float32Array.from(values));
  }
  f64(value: number) {
    return this.add(Float64Array.of(value));
  }
  text(text: string) {
    return this.u32(text.length).u8(...new TextEncoder().encode(text));
  }
  get bytes() {
    return Uint8Array.from(this.parts);
  }
  private add(values: { buffer: ArrayBufferLike }) {
    return this.u8(...new Uint8Array(values.buffer));
  }
}

const scene = { figures: [{ nq: 2, nv: 1 }, { nq: 1, nv: 1 }], numbers: [{ name: "energy", unit: "J" }] } as unknown as Scene;
const whole = () =>
  new Message().u8(0).f64(1.5).u32(1).text("lands").u8(1)
    .u32(1, /* contact */ 0, 2, -1, -1).u32(1, /* connection */ 1, 0, -1, -1).text("grip")
    .u32(0, 31).f32(...Array.from({ length: 31 }, (_, i) => i)).bytes;

describe("frames of a running simulation", () => {
  it("are read whole", () => {
    const frame = new LiveFrames(scene).next(whole());
    expect(frame.time).toBe(1.5);
    expect(frame.events).toEqual(["lands"]);
    expect(frame.figures.map((f) => [[...f.q], [...f.v]])).toEqual([[[0, 1], [2]], [[3], [4]]]);
    expect([...frame.numbers]).toEqual([5]);
    expect(frame.contacts).toEqual([{ a: { figure: 0, link: 2 }, b: { figure: -1, link: -1 }, point: [6, 7, 8], normal: [9, 10, 11], force: [12, 13, 14], moment: [15, 16, 17], impulse: [18, 19, 20], state: 21 }]);
    expect(frame.connections).toEqual([{ name: "grip", a: { figure: 1, link: 0 }, b: { figure: -1, link: -1 }, point: [22, 23, 24], force: [25, 26, 27], moment: [28, 29, 30] }]);
  });
  it("are changed by runs, and the frame before stays as it was", () => {
    const frames = new LiveFrames(scene);
    const first = frames.next(whole());
    const second = frames.next(new Message().u8(1).f64(2).u32(0).u8(0).u32(1, 2).f32(-1, -2).u32(12, 1).f32(99).bytes);
    expect([...second.values.subarray(0, 4)]).toEqual([0, -1, -2, 3]);
    expect(second.contacts[0]!.force).toEqual([99, 13, 14]);
    expect([...first.values.subarray(0, 4)]).toEqual([0, 1, 2, 3]);
    const apart = frames.next(new Message().u8(1).f64(2.5).u32(0).u8(1).u32(0, 0).bytes);
    expect(apart.contacts).toEqual([]);
    expect([...apart.numbers]).toEqual([5]);
  });
  it("that are damaged are refused", () => {
    const change = new Message().u8(1).f64(2).u32(0).u8(0).bytes;
    expect(() => new LiveFrames(scene).next(change)).toThrow("damaged"); // there is no frame before
    const frames = new LiveFrames(scene);
    frames.next(whole());
    expect(() => frames.next(new Message().u8(1).f64(2).u32(0).u8(0).u32(30, 2).f32(1, 2).bytes)).toThrow(); // beyond the end
    expect(() => frames.next(whole().subarray(0, 40))).toThrow("damaged");
    expect(() => frames.next(new Message().u8(0).f64(2).u32(0).u8(1).u32(2 ** 31 - 1).bytes)).toThrow("damaged");
  });
});
