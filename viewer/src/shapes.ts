import { BoxGeometry, BufferGeometry, CapsuleGeometry, CylinderGeometry, Float32BufferAttribute, SphereGeometry, Vector3 } from "three";
import { ConvexGeometry } from "three/examples/jsm/geometries/ConvexGeometry.js";
import type { ShapeSpec } from "./scene";
import type { Quality } from "./stage";

/** Tessellation of round shapes: segments around, rings from pole to equator. */
export type Detail = readonly [around: number, rings: number];

/** For a graphics processor; for software rendering in motion and at rest. */
export type Cut = Quality | "resting";
const CUTS: Record<Cut, { finest: Detail; shapes: number }> = {
  high: { finest: [32, 10], shapes: 4000 },
  low: { finest: [16, 4], shapes: 300 },
  resting: { finest: [32, 10], shapes: 100 },
};

/** Fine, or coarser if there are so many round shapes that their vertices would take too long. */
export function detailFor(count: number, cut: Cut): Detail {
  const { finest: [around, rings], shapes } = CUTS[cut];
  const share = Math.sqrt(shapes / Math.max(count, 1));
  return share >= 1 ? [around, rings] : [Math.max(6, Math.round(around * share)), Math.max(2, Math.round(rings * share))];
}

/** The surface of a shape with its axis along z; none for meshes, which are files, and for planes, which the ground shows. */
export function geometryOf(shape: ShapeSpec, [around, rings]: Detail): BufferGeometry | undefined {
  const r = shape.radius ?? 0.05, l = shape.length ?? 0;
  switch (shape.type) {
    case "sphere": return new SphereGeometry(r, around, 2 * rings);
    case "box": return new BoxGeometry(...(shape.size ?? [0.1, 0.1, 0.1]));
    case "hull": return new ConvexGeometry((shape.vertices ?? []).map((v) => new Vector3(...v)));
    case "triangles": return surface((shape.vertices ?? []).flat(), (shape.triangles ?? []).flat());
    case "heights": return heights(shape);
    case "cylinder": return new CylinderGeometry(r, r, l, around).rotateX(Math.PI / 2);
    case "capsule": return new CapsuleGeometry(r, l, rings, around).rotateX(Math.PI / 2);
    default: return undefined;
  }
}

function surface(positions: number[], indices: number[]): BufferGeometry {
  const indexed = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(positions, 3)).setIndex(indices);
  const flat = indexed.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

/** A height field, its cells cut along the diagonal from their lowest corner. */
function heights({ columns = 2, rows = 2, size = [1, 1], heights: z = [] }: ShapeSpec): BufferGeometry {
  const positions: number[] = [], indices: number[] = [];
  for (let r = 0; r < rows; ++r) {
    for (let c = 0; c < columns; ++c) {
      positions.push(size[0]! * (c / (columns - 1) - 0.5), size[1]! * (r / (rows - 1) - 0.5), z[r * columns + c] ?? 0);
      if (r === rows - 1 || c === columns - 1) continue;
      const at = r * columns + c, up = at + columns;
      indices.push(at, at + 1, up + 1, at, up + 1, up);
    }
  }
  return surface(positions, indices);
}

/** Shapes with equal keys share a geometry and a draw call. */
export function keyOf(shape: ShapeSpec): string {
  return JSON.stringify([shape.type, shape.radius, shape.length, shape.size, shape.file, shape.texture, shape.scale, shape.vertices, shape.triangles, shape.heights, (shape.color?.[3] ?? 1) < 1]);
}
