import { Box3, Vector3, Vector4 } from "three";
import { describe, expect, it } from "vitest";
import { flattening, groundLevel } from "../src/ground";
import type { ShapeSpec } from "../src/scene";

const box = (low: number, high: number) => new Box3(new Vector3(-1, -1, low), new Vector3(1, 1, high));
const plane = (z: number, qy = 0): ShapeSpec => ({ type: "plane", pose: [0, 0, z, 0, qy, 0, Math.sqrt(1 - qy * qy)] });

describe("ground", () => {
  it("is the highest level plane", () => {
    expect(groundLevel([plane(-1), plane(-0.4), plane(2, 0.3)], box(-3, 1))).toBe(-0.4);
  });
  it("is below what hangs through z = 0, and stays where feet sink in", () => {
    expect(groundLevel([], box(-0.2, 0.1))).toBe(-0.2);
    expect(groundLevel([], box(-0.11, 0.89))).toBe(-0.11); // more than a tenth
    expect(groundLevel([], box(-0.09, 0.91))).toBe(0);
    expect(groundLevel([], box(0.3, 2))).toBe(0);
    expect(groundLevel([], new Box3())).toBe(0);
    expect(groundLevel([{ type: "box", pose: [0, 0, -2, 0, 0, 0, 1] }], box(-3, 1))).toBe(0);
  });
  it("gets shadows: what is on it stays, what is above moves away from the sun", () => {
    const at = (z: number) => new Vector4(1, 2, z, 1).applyMatrix4(flattening(-0.5));
    expect(at(-0.5).toArray()).toEqual([1, 2, -0.498, 1]);
    expect(at(1).z).toBe(-0.498);
    expect(Math.hypot(at(1).x - 1, at(1).y - 2)).toBeGreaterThan(0.1);
  });
});
