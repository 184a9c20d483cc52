import { describe, expect, it } from "vitest";
import { arrowScale } from "../src/overlays";

describe("arrows of forces", () => {
  it("have a round scale that suits the heaviest figure", () => {
    expect(arrowScale(677, 1.7)).toBeCloseTo(1e-3, 9); // a grown figure: 1 m per kN
    expect(arrowScale(6.3, 0.2)).toBeCloseTo(1e-2, 9); // a hand: 1 m per 100 N
    expect(arrowScale(1800, 1.5)).toBeCloseTo(5e-4, 9);
    for (let weight = 0.1; weight < 1e5; weight *= 1.7) {
      const length = (arrowScale(weight, 1) * weight) / 0.4; // of the weight's arrow, relative to what is wanted
      expect(length).toBeGreaterThan(0.6);
      expect(length).toBeLessThan(1.6);
    }
  });
  it("are those of a grown figure where nothing has a weight or a size", () => {
    expect(arrowScale(0, 1)).toBe(1e-3);
    expect(arrowScale(10, 0)).toBe(1e-3);
    expect(arrowScale(NaN, 1)).toBe(1e-3);
  });
});
