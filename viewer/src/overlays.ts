import {
  BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, Line, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, SphereGeometry, TorusGeometry, Vector3,
} from "three";
import { Arrows } from "./arrows";
import type { Contact, Frame } from "./frame";
import type { Kinematics } from "./kinematics";
import type { Quality } from "./stage";
import { COM, CONNECTION, CONTACT, COP, JOINT, SLIDE } from "./theme";

/** Arrows, marks, axes and trails on top of the bodies. */

const GROWN = 1.75; // [m] height of the figure for which marks have their nominal size and forces 1 m per kN
const OF_HEIGHT = 0.4; // length of the arrow of a figure's weight, relative to the figure's size

/** Metres of arrow per newton, 1, 2 or 5 times a power of ten: the weight of the heaviest figure is drawn at about 0.4 of its size. */
export function arrowScale(weight: number, size: number): number {
  if (!(weight > 0) || !(size > 0)) return 1e-3;
  const wanted = (OF_HEIGHT * size) / weight, power = 10 ** Math.floor(Math.log10(wanted));
  const steps = [1, 2, 5, 10], near = (a: number) => Math.abs(Math.log(wanted / (a * power)));
  return power * steps.reduce((best, a) => (near(a) < near(best) ? a : best));
}

/** A line through the last positions of a point. */
class Trail {
  readonly line: Line;
  private readonly points: Vector3[] = [];
  private readonly positions: BufferAttribute;
  private lastTime = NaN;
  constructor(color: Color, private readonly capacity = 400) {
    this.positions = new BufferAttribute(new Float32Array(3 * capacity), 3).setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry().setAttribute("position", this.positions);
    this.line = new Line(geometry, new LineBasicMaterial({ color, transparent: true, opacity: 0.85 }));
    this.line.frustumCulled = false;
  }
  add(point: Vector3, time: number) {
    if (time < this.lastTime || time > this.lastTime + 0.5) this.points.length = 0; // a jump
    if (time === this.lastTime) return;
    this.lastTime = time;
    this.points.push(point.clone());
    if (this.points.length > this.capacity) this.points.shift();
    this.points.forEach((p, i) => this.positions.setXYZ(i, p.x, p.y, p.z));
    this.positions.needsUpdate = true;
    this.line.geometry.setDrawRange(0, this.points.length);
  }
}

export type OverlayName = "contacts" | "com" | "joints" | "frames" | "trails";

export class Overlays {
  readonly group = new Group();
  readonly shown: Record<OverlayName, boolean> = { contacts: true, com: false, joints: false, frames: false, trails: false };
  forceScale = 1; // chosen by the user, in addition to the scene's
  private sceneScale = 1e-3; // [m/N]
  private size = 1; // of marks, relative to those of an adult figure
  private readonly arrows: Arrows;
  private readonly axes: Arrows;
  private readonly com: Mesh[];
  private readonly cop: Mesh[];
  private readonly lines: LineSegments;
  private readonly trails: Trail[];

  constructor(private readonly figures: Kinematics[], quality: Quality) {
    this.arrows = new Arrows(1024, 0.011, quality);
    this.axes = new Arrows(2048, 0.006, quality);
    const ball = (color: Color) => {
      const mesh = new Mesh(new SphereGeometry(0.028, 24, 16), new MeshBasicMaterial({ color, depthTest: false, transparent: true }));
      mesh.renderOrder = 10;
      return mesh;
    };
    this.com = figures.map(() => ball(COM));
    this.cop = figures.map(() => {
      const mesh = new Mesh(new TorusGeometry(0.045, 0.008, 10, 36), new MeshBasicMaterial({ color: COP, depthTest: false, transparent: true }));
      mesh.renderOrder = 10;
      return mesh;
    });
    this.trails = figures.map(() => new Trail(COM));
    const corners = figures.reduce((n, f) => n + f.figure.links.length, 0) * 6;
    const geometry = new BufferGeometry()
      .setAttribute("position", new BufferAttribute(new Float32Array(3 * corners), 3).setUsage(DynamicDrawUsage))
      .setAttribute("color", new BufferAttribute(new Float32Array(3 * corners), 3));
    const rgb = [new Color("#d1495b"), new Color("#2a9d6f"), new Color("#2f6fd0")];
    for (let i = 0; i < corners; ++i) rgb[(i >> 1) % 3]!.toArray((geometry.attributes["color"] as BufferAttribute).array, 3 * i);
    this.lines = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 9;
    this.group.add(this.arrows.group, this.axes.group, this.lines, ...this.com, ...this.cop, ...this.trails.map((t) => t.line));
  }

  /** Fits arrows and marks to a figure of a weight [N] and a size [m]. */
  setProportions(weight: number, size: number) {
    this.sceneScale = arrowScale(weight, size);
    this.size = Math.min(1, Math.max(0.02, size / GROWN));
    for (const mark of [...this.com, ...this.cop]) mark.scale.setScalar(this.size);
  }
  /** [m/N] of the arrows of forces. */
  get metresPerNewton() {
    return this.sceneScale * this.forceScale;
  }

  update(frame: Frame | undefined, time: number) {
    const contacts = frame?.contacts ?? [];
    this.forces(frame, contacts);
    this.jointAxes();
    this.linkFrames();
    this.figures.forEach((figure, i) => {
      const com = figure.centerOfMass(this.com[i]!.position);
      this.com[i]!.visible = this.shown.com;
      this.trails[i]!.line.visible = this.shown.trails;
      if (this.shown.trails) this.trails[i]!.add(com, time);
      this.pressure(contacts, i);
    });
  }

  private forces(frame: Frame | undefined, contacts: Contact[]) {
    this.arrows.begin();
    if (frame && this.shown.contacts) {
      const arrow = (c: { point: number[]; force: number[] }, color: Color) =>
        this.arrows.add(new Vector3(...c.point), new Vector3(...c.force).multiplyScalar(this.metresPerNewton), color, this.size);
      for (const c of contacts) arrow(c, CONTACT);
      for (const c of frame.connections) arrow(c, CONNECTION);
    }
    this.arrows.end();
  }

  /** The centre of pressure: mean position of a figure's contacts, weighted by their normal forces. */
  private pressure(contacts: Contact[], figure: number) {
    const mark = this.cop[figure]!;
    mark.visible = false;
    if (!this.shown.com) return;
    let sum = 0;
    const at = new Vector3();
    for (const c of contacts) {
      const sign = c.a.figure === figure ? 1 : c.b.figure === figure ? -1 : 0;
      if (sign === 0 || (c.a.figure === figure && c.b.figure === figure)) continue;
      const pressing = Math.max(0, c.force[0]! * c.normal[0]! + c.force[1]! * c.normal[1]! + c.force[2]! * c.normal[2]!);
      sum += pressing;
      at.addScaledVector(new Vector3(...c.point), pressing);
    }
    mark.visible = sum > 1e-6;
    if (mark.visible) mark.position.copy(at.divideScalar(sum)).add(new Vector3(0, 0, 0.004 * this.size));
  }

  private jointAxes() {
    this.axes.begin();
    if (this.shown.joints) {
      const m = new Matrix4(), p = new Vector3(), d = new Vector3();
      for (const figure of this.figures) {
        figure.figure.joints.forEach((joint, j) => {
          figure.socket(j, m);
          p.setFromMatrixPosition(m);
          for (const primitive of joint.chain) {
            if (!primitive.axis) continue;
            d.set(...primitive.axis).transformDirection(m).multiplyScalar(0.14 * this.size);
            this.axes.add(p.clone().addScaledVector(d, -0.5), d, primitive.kind === "slide" ? SLIDE : JOINT, this.size);
          }
        });
      }
    }
    this.axes.end();
  }

  private linkFrames() {
    this.lines.visible = this.shown.frames;
    if (!this.shown.frames) return;
    const position = this.lines.geometry.attributes["position"] as BufferAttribute;
    let i = 0;
    const p = new Vector3(), d = new Vector3();
    for (const figure of this.figures) {
      for (const X of figure.poses) {
        p.setFromMatrixPosition(X);
        for (let k = 0; k < 3; ++k) {
          d.setFromMatrixColumn(X, k).multiplyScalar(0.09 * this.size).add(p);
          position.setXYZ(i++, p.x, p.y, p.z);
          position.setXYZ(i++, d.x, d.y, d.z);
        }
      }
    }
    position.needsUpdate = true;
  }
}
