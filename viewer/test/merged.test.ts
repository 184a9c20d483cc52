import { expect, test } from "vitest";
import { BoxGeometry, BufferAttribute, Color, Matrix4 } from "three";
import { indexCount, merged, Places } from "../src/merged";

test("pieces keep their corners, colours and order, with or without an index", () => {
  const box = new BoxGeometry(1, 2, 3), open = new BoxGeometry(1, 1, 1).toNonIndexed();
  open.setAttribute("color", new BufferAttribute(new Float32Array(3 * 36).fill(0.5), 3));
  const all = merged([box, open, box]);
  expect(all.attributes["position"]!.count).toBe(24 + 36 + 24);
  expect(indexCount(all)).toBe(3 * 36);
  expect([0, 23, 24, 59, 60, 83].map((i) => all.attributes["piece"]!.getX(i))).toEqual([0, 0, 1, 1, 2, 2]);
  expect([0, 24, 60].map((i) => all.attributes["color"]!.getX(i))).toEqual([1, 0.5, 1]); // white where a piece has none
  // The triangles of the last piece are those of the box: same corners, same normals.
  for (let i = 0; i < 36; ++i) {
    const here = all.index!.getX(72 + i), there = box.index!.getX(i);
    for (const name of ["position", "normal"]) for (let k = 0; k < 3; ++k) expect(all.attributes[name]!.getComponent(here, k)).toBe(box.attributes[name]!.getComponent(there, k));
  }
});

test("a row of the picture of places has the matrix and the colour of one piece", () => {
  const places = new Places(3);
  places.place(1, new Matrix4().makeTranslation(4, 5, 6));
  places.tint(1, new Color(0.25, 0.5, 0.75));
  const values = places.texture.image.data as unknown as Float32Array;
  expect([...values.slice(20, 40)]).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 4, 5, 6, 1, 0.25, 0.5, 0.75, 0]);
  expect([...values.slice(0, 20), ...values.slice(40)].every((x) => x === 0)).toBe(true);
});
