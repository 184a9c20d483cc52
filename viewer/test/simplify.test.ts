import { BoxGeometry, type BufferAttribute, BufferGeometry, SphereGeometry, TorusKnotGeometry, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { simplified, triangles } from "../src/simplify";

const fine = () => new SphereGeometry(0.2, 200, 100);

describe("coarse meshes", () => {
  it("have few triangles and the outline of the fine ones", () => {
    const coarse = simplified(fine(), 2000);
    expect(triangles(fine())).toBeGreaterThan(39000);
    expect(triangles(coarse)).toBeLessThanOrEqual(2000);
    expect(triangles(coarse)).toBeGreaterThan(500);
    const p = new Vector3(), position = coarse.attributes["position"] as BufferAttribute;
    for (let i = 0; i < position.count; ++i) {
      const r = p.fromBufferAttribute(position, i).length();
      expect(Math.abs(r - 0.2)).toBeLessThan(0.004); // the mean over a cell of 11 mm lies inside by its sagitta, 0.1 mm; poles have more corners
    }
  });
  it("keep sharp edges, colours of corners and what is small already", () => {
    const box = new BoxGeometry(1, 1, 1, 40, 40, 40).toNonIndexed();
    const coarse = simplified(box, 1500), normal = coarse.attributes["normal"] as BufferAttribute;
    for (let i = 0; i < normal.count; ++i) expect(Math.max(...[0, 1, 2].map((k) => Math.abs(normal.getComponent(i, k))))).toBeCloseTo(1, 6);
    expect(coarse.attributes["uv"]!.count).toBe(normal.count);
    const small = new BoxGeometry(1, 1, 1);
    expect(simplified(small, 100)).toBe(small);
  });
  it("are made of any mesh, also where it cannot be done well", () => {
    for (const source of [new TorusKnotGeometry(1, 0.3, 300, 40), fine().deleteAttribute("normal")]) expect(triangles(simplified(source, 10))).toBeLessThan(triangles(source) / 4);
    expect(triangles(simplified(new BufferGeometry().setAttribute("position", fine().attributes["position"]!), 10))).toBeLessThan(4000);
  });
});
