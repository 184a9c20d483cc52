import {
  type Color, ConeGeometry, CylinderGeometry, DynamicDrawUsage, GreaterDepth, Group, type InstancedBufferAttribute, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial,
  Quaternion, Vector3,
} from "three";
import { cornerLit } from "./corner_light";
import { indexCount, merged, Places } from "./merged";
import type { Quality } from "./stage";
import { CONTACT } from "./theme";

const Z = new Vector3(0, 0, 1);
const THROUGH = { transparent: true, opacity: 0.75, depthFunc: GreaterDepth, depthWrite: false } as const; // hidden parts shine through bodies

/** Draws arrows: shafts and heads of unit size along z with their transforms. */
interface Drawing {
  meshes: Mesh[];
  set(arrow: number, shaft: Matrix4, head: Matrix4, color: Color): void;
  /** Sets the number of arrows. */
  show(count: number): void;
}

const shaftOf = (around: number, openEnded: boolean) => new CylinderGeometry(1, 1, 1, around, 1, openEnded).rotateX(Math.PI / 2).translate(0, 0, 0.5);
const headOf = (around: number, openEnded: boolean) => new ConeGeometry(1, 1, around, 1, openEnded).rotateX(Math.PI / 2).translate(0, 0, 0.5);

/** Four draw calls, with shadows. */
class InstancedArrows implements Drawing {
  readonly meshes: InstancedMesh[];
  private readonly solid: InstancedMesh[];

  constructor(capacity: number) {
    const ghost = new MeshBasicMaterial(THROUGH);
    this.solid = [shaftOf(14, false), headOf(18, false)].map((geometry) => {
      const mesh = new InstancedMesh(geometry, new MeshLambertMaterial(), capacity);
      mesh.castShadow = true;
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.setColorAt(0, CONTACT); // allocates the memory shared with its twin
      return mesh;
    });
    const hidden = this.solid.map((mesh) => {
      const twin = new InstancedMesh(mesh.geometry, ghost, capacity);
      twin.instanceMatrix = mesh.instanceMatrix;
      twin.instanceColor = mesh.instanceColor;
      return twin;
    });
    this.meshes = [...this.solid, ...hidden];
  }
  set(arrow: number, shaft: Matrix4, head: Matrix4, color: Color) {
    this.solid.forEach((mesh, i) => {
      mesh.setMatrixAt(arrow, i === 0 ? shaft : head);
      mesh.setColorAt(arrow, color);
    });
  }
  show(count: number) {
    for (const mesh of this.meshes) mesh.count = count;
    if (count === 0) return;
    // Uploads only the used part of the buffers.
    for (const mesh of this.solid) {
      send(mesh.instanceMatrix, 16 * count);
      send(mesh.instanceColor!, 3 * count);
    }
  }
}

function send(attribute: InstancedBufferAttribute, numbers: number) {
  attribute.clearUpdateRanges();
  attribute.addUpdateRange(0, numbers);
  attribute.needsUpdate = true;
}

/** Two draw calls, for software rendering. Hundreds of contacts are a few pixels wide each: their vertices would cost more than all bodies. */
class MergedArrows implements Drawing {
  readonly meshes: Mesh[];
  private readonly places: Places;
  private readonly indices: number; // of one arrow

  constructor(capacity: number) {
    const arrow = [shaftOf(4, true), headOf(6, true)];
    this.indices = arrow.reduce((n, g) => n + indexCount(g), 0);
    this.places = new Places(2 * capacity);
    const geometry = merged(Array.from({ length: capacity }, () => arrow).flat());
    this.meshes = [cornerLit({}, "scene", this.places), cornerLit(THROUGH, "none", this.places)].map((material) => new Mesh(geometry, material));
  }
  set(arrow: number, shaft: Matrix4, head: Matrix4, color: Color) {
    [shaft, head].forEach((matrix, i) => {
      this.places.place(2 * arrow + i, matrix);
      this.places.tint(2 * arrow + i, color);
    });
  }
  show(count: number) {
    for (const mesh of this.meshes) {
      mesh.visible = count > 0;
      mesh.geometry.setDrawRange(0, this.indices * count);
    }
  }
}

/** Any number of arrows, up to the capacity, each a rotated and scaled copy along z. Hidden parts shine through bodies, because
 * the force under a foot is inside the leg. */
export class Arrows {
  readonly group = new Group();
  private readonly drawing: Drawing;
  private count = 0;
  private readonly shaft = new Matrix4();
  private readonly head = new Matrix4();
  private readonly q = new Quaternion();

  constructor(private readonly capacity: number, private readonly radius: number, quality: Quality) {
    this.drawing = quality === "low" ? new MergedArrows(capacity) : new InstancedArrows(capacity);
    for (const mesh of this.drawing.meshes) {
      mesh.frustumCulled = false;
      this.group.add(mesh);
    }
    this.drawing.show(0);
  }

  begin() {
    this.count = 0;
  }
  add(from: Vector3, vector: Vector3, color: Color, thickness = 1) {
    const length = vector.length();
    if (!(length > 1e-5) || this.count >= this.capacity) return;
    const r = Math.min(this.radius * thickness, 0.12 * length); // short ones are thin, not discs
    const head = Math.min(5 * r, 0.45 * length);
    this.q.setFromUnitVectors(Z, vector.clone().divideScalar(length));
    this.shaft.compose(from, this.q, new Vector3(r, r, length - head));
    this.head.compose(from.clone().addScaledVector(vector, (length - head) / length), this.q, new Vector3(2.3 * r, 2.3 * r, head));
    this.drawing.set(this.count++, this.shaft, this.head, color);
  }
  end() {
    this.drawing.show(this.count);
  }
}
