import { ViewerError } from "./bytes";

/** scene.json of a recording: its constant part (docs/formats/recording.md). Poses are [x, y, z, qx, qy, qz, qw]. */
export type Pose7 = [number, number, number, number, number, number, number];
export type Vec = [number, number, number];

export interface ShapeSpec {
  type: "sphere" | "box" | "cylinder" | "capsule" | "mesh" | "plane" | "hull" | "heights" | "triangles";
  name?: string;
  pose: Pose7;
  color?: [number, number, number, number];
  radius?: number;
  length?: number;
  size?: number[];
  file?: string;
  texture?: string;
  scale?: Vec;
  vertices?: Vec[];
  triangles?: Vec[];
  columns?: number;
  rows?: number;
  heights?: number[];
}
export interface LinkSpec {
  name: string;
  parent: number;
  mass?: number;
  com?: Vec;
  shapes: ShapeSpec[];
  bones?: ShapeSpec[];
}
export interface Row {
  terms: [number, number][];
  offset: number;
  lower: number | null;
  upper: number | null;
}
export interface JointSpec {
  name: string;
  type: string;
  parent: number;
  child: number;
  socket: Pose7;
  plug: Pose7;
  chain: { kind: "hinge" | "slide" | "screw" | "ball" | "free"; coordinate: number; axis?: Vec; pitch?: number }[];
  follows: boolean;
  quaternion?: number;
  rows?: Row[];
}
export interface FigureSpec {
  name: string;
  model: string;
  base: "free" | "fixed";
  base_pose: Pose7;
  gravity: Vec;
  mass: number;
  nq: number;
  nv: number;
  q_names: string[];
  v_names: string[];
  links: LinkSpec[];
  joints: JointSpec[];
  frames: { name: string; link: number; pose: Pose7 }[];
}
export interface Scene {
  format: string;
  version: number;
  figures: FigureSpec[];
  environment: ShapeSpec[];
  numbers: { name: string; unit: string }[];
  missing?: string[]; // mesh files that were not found
  notes: Record<string, string>;
}

export const SCENE_VERSION = 1;

export function parseScene(text: string): Scene {
  let scene: Scene;
  try {
    scene = JSON.parse(text) as Scene;
  } catch {
    throw new ViewerError("The description of the scene is damaged.", "", "REC006");
  }
  if (scene.format !== "kansetsu-scene") throw new ViewerError("The description of the scene has an unknown format.", "", "REC006");
  if (scene.version > SCENE_VERSION) {
    throw new ViewerError("The recording was written by a newer version of kansetsu.", "Update kansetsu to open it.", "REC004");
  }
  return scene;
}

/** Whether no link has a shape, for example because all mesh files are missing. */
export function isShapeless(scene: Scene): boolean {
  return scene.figures.every((figure) => figure.links.every((link) => link.shapes.length === 0));
}

/** Indices in q at which a quaternion begins. */
export function quaternionsOf(figure: FigureSpec): number[] {
  const found = figure.base === "free" ? [3] : [];
  for (const joint of figure.joints) {
    if (joint.quaternion === undefined || joint.follows) continue;
    found.push(joint.quaternion + (joint.chain[0]?.kind === "free" ? 3 : 0));
  }
  return found;
}
