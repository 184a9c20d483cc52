import { Matrix4, Quaternion, Vector3 } from "three";
import type { Numbers } from "./frame";
import { quaternionsOf, type FigureSpec, type JointSpec, type Pose7 } from "./scene";

/** Forward kinematics of a figure, from scene.json alone: poses of all links for given positions q. */

const ONE = new Vector3(1, 1, 1);

export function poseMatrix(pose: Pose7, out = new Matrix4()): Matrix4 {
  return out.compose(new Vector3(pose[0], pose[1], pose[2]), new Quaternion(pose[3], pose[4], pose[5], pose[6]).normalize(), ONE);
}

interface Step {
  joint: JointSpec;
  socket: Matrix4;
  unplug: Matrix4;
  axes: Vector3[];
}

export class Kinematics {
  readonly poses: Matrix4[];
  private readonly steps: Step[];
  private readonly base: Matrix4;
  private readonly quaternions: number[];
  private readonly p = new Vector3();
  private readonly r = new Quaternion();
  private readonly m = new Matrix4();

  constructor(readonly figure: FigureSpec) {
    this.poses = figure.links.map(() => new Matrix4());
    this.base = poseMatrix(figure.base_pose);
    this.quaternions = quaternionsOf(figure);
    this.steps = figure.joints.map((joint) => ({
      joint,
      socket: poseMatrix(joint.socket),
      unplug: poseMatrix(joint.plug).invert(),
      axes: joint.chain.map((c) => new Vector3(...(c.axis ?? [0, 0, 1]))),
    }));
  }

  /** The coordinate `index` of a joint, gears included. */
  static value(joint: JointSpec, index: number, q: ArrayLike<number>): number {
    const row = joint.rows?.[index];
    if (!row) return 0;
    let x = row.offset;
    for (const [column, ratio] of row.terms) x += ratio * (q[column] ?? 0);
    return x;
  }

  /** Fills `poses`. */
  update(q: ArrayLike<number>): Matrix4[] {
    const root = this.poses[0];
    if (!root) return this.poses;
    if (this.figure.base === "free") this.rigid(q, 0, root);
    else root.copy(this.base);
    for (const { joint, socket, unplug, axes } of this.steps) {
      const X = this.poses[joint.child]!;
      X.multiplyMatrices(this.poses[joint.parent]!, socket);
      joint.chain.forEach((primitive, k) => X.multiply(this.primitive(joint, primitive, axes[k]!, q)));
      X.multiply(unplug);
    }
    return this.poses;
  }

  private rigid(q: ArrayLike<number>, at: number, out: Matrix4): Matrix4 {
    this.p.set(q[at] ?? 0, q[at + 1] ?? 0, q[at + 2] ?? 0);
    this.r.set(q[at + 3] ?? 0, q[at + 4] ?? 0, q[at + 5] ?? 0, q[at + 6] ?? 1).normalize();
    return out.compose(this.p, this.r, ONE);
  }

  private primitive(joint: JointSpec, primitive: JointSpec["chain"][0], axis: Vector3, q: ArrayLike<number>): Matrix4 {
    const at = joint.quaternion ?? 0;
    if (primitive.kind === "free") return this.rigid(q, at, this.m);
    if (primitive.kind === "ball") {
      this.r.set(q[at] ?? 0, q[at + 1] ?? 0, q[at + 2] ?? 0, q[at + 3] ?? 1).normalize();
      return this.m.makeRotationFromQuaternion(this.r);
    }
    const x = Kinematics.value(joint, primitive.coordinate, q);
    if (primitive.kind === "slide") return this.m.makeTranslation(this.p.copy(axis).multiplyScalar(x));
    this.m.makeRotationAxis(axis, x);
    if (primitive.kind === "screw") this.m.setPosition(this.p.copy(axis).multiplyScalar(x * (primitive.pitch ?? 0)));
    return this.m;
  }

  /** Centre of mass for the poses of the last update(). */
  centerOfMass(out = new Vector3()): Vector3 {
    let mass = 0;
    out.set(0, 0, 0);
    this.figure.links.forEach((link, i) => {
      if (!link.mass) return;
      this.p.set(...(link.com ?? [0, 0, 0])).applyMatrix4(this.poses[i]!);
      out.addScaledVector(this.p, link.mass);
      mass += link.mass;
    });
    return mass > 0 ? out.divideScalar(mass) : out.setFromMatrixPosition(this.poses[0] ?? new Matrix4());
  }

  /** Interpolates between two configurations: numbers linearly, quaternions along the shorter arc. */
  interpolate(a: Numbers, b: Numbers, s: number, out: Float64Array): Float64Array {
    for (let i = 0; i < out.length; ++i) out[i] = a[i]! + s * (b[i]! - a[i]!);
    for (const at of this.quaternions) {
      this.r.set(a[at]!, a[at + 1]!, a[at + 2]!, a[at + 3]!).slerp(new Quaternion(b[at]!, b[at + 1]!, b[at + 2]!, b[at + 3]!), s);
      out.set([this.r.x, this.r.y, this.r.z, this.r.w], at);
    }
    return out;
  }

  /** The joint's frame for the poses of the last update(): the socket on its parent. */
  socket(joint: number, out = new Matrix4()): Matrix4 {
    const step = this.steps[joint]!;
    return out.multiplyMatrices(this.poses[step.joint.parent]!, step.socket);
  }
}
