import {
  Box3, type BufferGeometry, Color, Group, InstancedMesh, Matrix4, Mesh, MeshLambertMaterial, MeshStandardMaterial, type Intersection, type Material, type Object3D, type Raycaster, type Texture,
} from "three";
import { cornerLit } from "./corner_light";
import { DATA_COLORS } from "./theme";
import type { BodyRef } from "./frame";
import { flatShadow, flattening } from "./ground";
import { poseMatrix } from "./kinematics";
import { merged, MOST_PIECES, Places } from "./merged";
import type { Scene, ShapeSpec } from "./scene";
import { detailFor, geometryOf, keyOf } from "./shapes";
import { simplified, triangles } from "./simplify";
import type { Quality } from "./stage";

/** The bodies of all figures. Equal shapes are one instanced mesh, so that a hundred figures cost as many draw calls as one. */

interface Instance {
  body: BodyRef;
  local: Matrix4;
  color: Color;
}
interface Batch {
  mesh: InstancedMesh;
  shadow: InstancedMesh | undefined; // flat; shares transforms and the coarse geometry
  instances: Instance[];
  full: BufferGeometry;
  coarse: BufferGeometry; // the same object if no other is needed
  first?: number; // number of the first instance among the merged
}
/** Replaces batches while bodies move: one draw call. */
interface Merged {
  places: Places;
  meshes: Mesh[]; // bodies and their flat shadows
}

const MOVING_TRIANGLES = 20000; // of all moving bodies, with software rendering
const LEAST_TRIANGLES = 150; // of a simplified mesh, at least
const MERGED_TRIANGLES = 200000; // at most: 25 MB

export type MeshLoader = (file: string) => Promise<BufferGeometry | undefined>;
export type TextureLoader = (file: string) => Promise<Texture | undefined>;
export type BodyStyle = "shapes" | "bones";

/** Muted colours for figures without colours. */
function figureColor(index: number): Color {
  return new Color(DATA_COLORS[index % DATA_COLORS.length]).lerp(new Color("#c8d2dc"), 0.35);
}

const LEAST_LIGHT = 0.03; // reflectance of black: shapes of black robots stay recognisable without gloss

/** The displayed colour for a colour in a file. */
function shownColor(rgba: readonly number[]): Color {
  return new Color().setRGB(rgba[0]!, rgba[1]!, rgba[2]!, "srgb").lerp(new Color(1, 1, 1), LEAST_LIGHT);
}

/** Matt surfaces; software rendering omits gloss, and lights surfaces without a texture at their vertices only. */
function materialOf(quality: Quality, options: { color?: Color; transparent: boolean; opacity: number; vertexColors?: boolean; map?: Texture | null }): Material {
  if (quality === "high") return new MeshStandardMaterial({ roughness: 0.62, metalness: 0.02, ...options });
  return options.map ? new MeshLambertMaterial(options) : cornerLit(options);
}

export class Bodies {
  readonly group = new Group();
  private batches: Batch[] = [];
  private merged: Merged | undefined;
  private highlighted: BodyRef | undefined;
  private readonly matrix = new Matrix4();
  private generation = 0;
  private readonly level = { value: 0 }; // of the ground
  private readonly flat = flatShadow(this.level);

  constructor(private readonly scene: Scene, private readonly load: MeshLoader, private readonly texture: TextureLoader, private readonly highlight: Color, private readonly quality: Quality) {}

  /** Rebuilds the meshes. Resolves when mesh files have been loaded, too. */
  async build(style: BodyStyle): Promise<void> {
    const generation = ++this.generation;
    this.clear();
    const wanted = new Map<string, { shape: ShapeSpec; instances: Instance[] }>();
    this.scene.figures.forEach((figure, f) =>
      figure.links.forEach((link, l) => {
        for (const shape of style === "bones" ? (link.bones ?? link.shapes) : link.shapes) {
          if (style === "shapes" && shape.color?.[3] === 0) continue;
          const key = keyOf(shape);
          const entry = wanted.get(key) ?? { shape, instances: [] };
          wanted.set(key, entry);
          const color = shape.color && style === "shapes" ? shownColor(shape.color) : shape.texture ? new Color(1, 1, 1) : figureColor(f);
          entry.instances.push({ body: { figure: f, link: l }, local: poseMatrix(shape.pose), color });
        }
      }),
    );
    const waiting: Promise<void>[] = [];
    const count = [...wanted.values()].reduce((n, w) => n + w.instances.length, 0);
    const low = this.quality === "low", detail = detailFor(count, low ? "resting" : "high"), moving = detailFor(count, "low");
    for (const { shape, instances } of wanted.values()) {
      const geometry = geometryOf(shape, detail);
      if (geometry && !shape.texture) this.add(geometry, shape, instances, undefined, low ? geometryOf(shape, moving) : undefined);
      else if (geometry || shape.file) waiting.push(this.fetch(generation, geometry, shape, instances));
    }
    await Promise.all(waiting);
    if (generation !== this.generation || this.quality === "high") return;
    this.coarsen();
    this.merge();
  }

  /** Makes coarse geometries if there are more triangles than software rendering can draw in time; every mesh keeps its share. */
  private coarsen() {
    const all = this.batches.reduce((n, b) => n + b.instances.length * triangles(b.coarse), 0);
    for (const batch of this.batches) {
      if (all > MOVING_TRIANGLES) batch.coarse = simplified(batch.coarse, Math.max(LEAST_TRIANGLES, (triangles(batch.coarse) * MOVING_TRIANGLES) / all));
      if (batch.shadow) batch.shadow.geometry = batch.coarse;
    }
  }

  /** Merges opaque bodies without textures into one draw call for motion, if there are not too many. */
  private merge() {
    const batches = this.batches.filter(({ mesh }) => mesh.material instanceof MeshLambertMaterial && !mesh.material.transparent && !mesh.material.map);
    const pieces = batches.flatMap((batch) => batch.instances.map(() => batch.coarse));
    if (pieces.length < 2 || pieces.length > MOST_PIECES || pieces.reduce((n, g) => n + triangles(g), 0) > MERGED_TRIANGLES) return;
    const geometry = merged(pieces), places = new Places(pieces.length);
    const flat = flatShadow(this.level, places);
    const bodies = new Mesh(geometry, cornerLit({ vertexColors: true }, "scene", places)), shadow = new Mesh(geometry, flat);
    flat.visible = this.flat.visible;
    shadow.matrixAutoUpdate = false;
    flattening(this.level.value, shadow.matrix);
    this.merged = { places, meshes: [bodies, shadow] };
    for (const mesh of this.merged.meshes) {
      mesh.frustumCulled = mesh.visible = false;
      this.group.add(mesh);
    }
    let first = 0;
    for (const batch of batches) {
      batch.first = first;
      first += batch.instances.length;
      this.tint(batch);
    }
  }

  /** Switches between fast drawing of moving bodies and detailed drawing at rest. */
  set moving(on: boolean) {
    for (const batch of this.batches) {
      batch.mesh.geometry = on ? batch.coarse : batch.full;
      batch.mesh.visible = !on || batch.first === undefined;
      if (batch.shadow) batch.shadow.visible = batch.mesh.visible;
    }
    for (const mesh of this.merged?.meshes ?? []) mesh.visible = on;
  }

  /** Adds a shape whose mesh or texture is in a file. */
  private async fetch(generation: number, made: BufferGeometry | undefined, shape: ShapeSpec, instances: Instance[]) {
    const [loaded, texture] = await Promise.all([made ?? this.load(shape.file!), shape.texture ? this.texture(shape.texture) : undefined]);
    if (!loaded || generation !== this.generation) return;
    const geometry = made ?? loaded.clone().scale(...(shape.scale ?? [1, 1, 1]));
    this.add(geometry, shape, instances, geometry.attributes["uv"] ? texture : undefined);
  }

  private add(geometry: BufferGeometry, shape: ShapeSpec, instances: Instance[], map: Texture | undefined, coarse = geometry) {
    const opacity = shape.color?.[3] ?? 1;
    // Colours of the file apply if the model gives none.
    const own = !!geometry.attributes["color"] && !shape.color && !map;
    if (own) for (const instance of instances) instance.color = new Color(1, 1, 1);
    else geometry.deleteAttribute("color");
    const material = materialOf(this.quality, { transparent: opacity < 1, opacity, vertexColors: own, map: map ?? null });
    const mesh = new InstancedMesh(geometry, material, instances.length);
    mesh.castShadow = opacity >= 0.5;
    mesh.receiveShadow = this.quality === "high";
    mesh.frustumCulled = false;
    const shadow = mesh.castShadow && this.quality === "low" ? this.shadowOf(mesh) : undefined;
    this.batches.push({ mesh, shadow, instances, full: geometry, coarse });
    this.group.add(mesh);
    if (shadow) this.group.add(shadow);
    this.tint(this.batches[this.batches.length - 1]!);
  }

  private shadowOf(mesh: InstancedMesh): InstancedMesh {
    const shadow = new InstancedMesh(mesh.geometry, this.flat, mesh.count);
    shadow.instanceMatrix = mesh.instanceMatrix;
    shadow.matrixAutoUpdate = false;
    flattening(this.level.value, shadow.matrix);
    shadow.frustumCulled = false;
    return shadow;
  }

  /** Whether flat shadows are drawn: not without a ground. */
  set shadows(shown: boolean) {
    for (const material of [this.flat, this.merged?.meshes[1]?.material as Material | undefined]) if (material) material.visible = shown;
  }

  /** The height of the ground, where flat shadows are. */
  set ground(level: number) {
    this.level.value = level;
    for (const shadow of [...this.batches.map((b) => b.shadow), this.merged?.meshes[1]]) {
      if (!shadow) continue;
      flattening(level, shadow.matrix);
      shadow.matrixWorldNeedsUpdate = true;
    }
  }

  private clear() {
    for (const { mesh, shadow, full, coarse } of this.batches) {
      this.group.remove(mesh);
      if (shadow) this.group.remove(shadow);
      full.dispose();
      coarse.dispose();
      (mesh.material as Material).dispose();
      mesh.dispose();
    }
    this.batches = [];
    for (const mesh of this.merged?.meshes ?? []) {
      this.group.remove(mesh);
      mesh.geometry.dispose();
      (mesh.material as Material).dispose();
    }
    this.merged?.places.texture.dispose();
    this.merged = undefined;
  }

  update(poses: Matrix4[][]) {
    for (const { mesh, instances, first } of this.batches) {
      instances.forEach(({ body, local }, i) => {
        mesh.setMatrixAt(i, this.matrix.multiplyMatrices(poses[body.figure]![body.link]!, local));
        if (first !== undefined) this.merged!.places.place(first + i, this.matrix);
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
  }

  /** Highlights a link, or a whole figure if the link is −1. */
  select(body: BodyRef | undefined) {
    this.highlighted = body;
    for (const batch of this.batches) this.tint(batch);
  }

  private tint({ mesh, instances, first }: Batch) {
    const chosen = this.highlighted;
    instances.forEach(({ body, color }, i) => {
      // A whole figure is highlighted only if there are others.
      const on = chosen && chosen.figure === body.figure && (chosen.link === body.link || (chosen.link === -1 && this.scene.figures.length > 1));
      const shown = on ? color.clone().lerp(this.highlight, 0.75) : color;
      mesh.setColorAt(i, shown);
      if (first !== undefined) this.merged!.places.tint(first + i, shown);
    });
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }

  /** The first body that the ray hits. */
  pick(raycaster: Raycaster): { body: BodyRef; hit: Intersection } | undefined {
    const meshes: Object3D[] = this.batches.map((b) => b.mesh);
    const hit = raycaster.intersectObjects(meshes, false)[0];
    if (!hit || hit.instanceId === undefined) return undefined;
    const batch = this.batches.find((b) => b.mesh === hit.object);
    const body = batch?.instances[hit.instanceId]?.body;
    return body && { body, hit };
  }

  /** The extent of a link, or of a whole figure. */
  boxOf(body: BodyRef): Box3 {
    const out = new Box3();
    for (const { mesh, instances } of this.batches) {
      mesh.geometry.computeBoundingBox();
      instances.forEach((instance, i) => {
        if (instance.body.figure !== body.figure || (body.link >= 0 && instance.body.link !== body.link)) return;
        mesh.getMatrixAt(i, this.matrix);
        out.union(mesh.geometry.boundingBox!.clone().applyMatrix4(this.matrix));
      });
    }
    return out;
  }

  box(out = new Box3()): Box3 {
    out.makeEmpty();
    for (const { mesh } of this.batches) {
      mesh.computeBoundingBox();
      if (mesh.boundingBox) out.union(mesh.boundingBox);
    }
    return out;
  }
}

/** Shapes that rest in the world. */
export function environmentOf(shapes: ShapeSpec[], load: MeshLoader, quality: Quality): Group {
  const group = new Group();
  const detail = detailFor(shapes.length, quality);
  for (const shape of shapes) {
    const color = shape.color ? shownColor(shape.color) : new Color("#9aa5b1");
    const opacity = shape.color?.[3] ?? 1;
    if (opacity === 0) continue; // geoms of groups that MuJoCo hides, as those for collisions
    const material = materialOf(quality, { color, transparent: opacity < 1, opacity });
    const place = (geometry: BufferGeometry) => {
      const mesh = new Mesh(geometry, material);
      mesh.matrixAutoUpdate = false;
      mesh.matrix.copy(poseMatrix(shape.pose));
      mesh.castShadow = mesh.receiveShadow = true;
      group.add(mesh);
    };
    const geometry = geometryOf(shape, detail);
    if (geometry) place(geometry);
    else if (shape.file) void load(shape.file).then((g) => g && place(g.clone().scale(...(shape.scale ?? [1, 1, 1]))));
  }
  return group;
}
