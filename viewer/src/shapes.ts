import { BoxGeometry, BufferGeometry, CapsuleGeometry, CylinderGeometry, SphereGeometry } from "three";
import type { ShapeSpec } from "./scene";
import type { Quality } from "./stage";

/** The surface of a shape, z along its axis; none for meshes, which come from files. */
export function geometryOf(shape: ShapeSpec, quality: Quality): BufferGeometry | undefined {
  const [around, rings] = quality === "low" ? [18, 5] : [32, 10];
  const r = shape.radius ?? 0.05, l = shape.length ?? 0;
  switch (shape.type) {
    case "sphere": return new SphereGeometry(r, around, 2 * rings);
    case "box": return new BoxGeometry(...(shape.size ?? [0.1, 0.1, 0.1]));
    case "cylinder": return new CylinderGeometry(r, r, l, around).rotateX(Math.PI / 2);
    case "capsule": return new CapsuleGeometry(r, l, rings, around).rotateX(Math.PI / 2);
    default: return undefined;
  }
}

/** Shapes with equal keys share a geometry, and are drawn at once. */
export function keyOf(shape: ShapeSpec): string {
  return JSON.stringify([shape.type, shape.radius, shape.length, shape.size, shape.file, shape.scale, (shape.color?.[3] ?? 1) < 1]);
}
