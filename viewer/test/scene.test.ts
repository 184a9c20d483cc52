import { expect, test } from "vitest";
import { isShapeless, type Scene } from "../src/scene";

function sceneOf(...links: number[]): Scene {
  const shape = { type: "sphere", pose: [0, 0, 0, 0, 0, 0, 1], radius: 0.1 };
  return { figures: [{ links: links.map((count) => ({ shapes: Array.from({ length: count }, () => shape) })) }] } as unknown as Scene;
}

test("a scene is without shapes only if no link has one", () => {
  expect(isShapeless(sceneOf(0, 0))).toBe(true);
  expect(isShapeless(sceneOf(0, 1))).toBe(false);
});
