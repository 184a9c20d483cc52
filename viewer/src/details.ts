import { Matrix4, Vector3 } from "three";
import { make, pretty } from "./dom";
import type { BodyRef } from "./frame";
import { icon } from "./icons";
import { Kinematics } from "./kinematics";
import type { FigureSpec, JointSpec, Scene } from "./scene";

/** The panel of the selection: its pose, the coordinates of its joint, and sliders if the figure can be posed. */
export class Details {
  private refresh: (() => void) | undefined;
  readonly posable: boolean;

  constructor(
    private readonly element: HTMLElement, private readonly scene: Scene, private readonly kinematics: Kinematics[], private readonly q: () => ArrayLike<number>[],
    private readonly plot: (channel: string) => void, private readonly pose: ((figure: number, index: number, value: number) => void) | undefined,
  ) {
    this.posable = !!pose;
  }

  show(body: BodyRef | undefined) {
    this.refresh = undefined;
    this.element.replaceChildren();
    const figure = body && this.scene.figures[body.figure];
    if (!body || !figure) return;
    if (body.link < 0) this.showFigure(figure, body.figure);
    else this.showLink(figure, body);
    this.update();
  }

  update() {
    this.refresh?.();
  }

  private list(entries: [string, () => string][]) {
    const values = entries.map(([name, value]) => ({ name, value, dd: make("dd") }));
    const list = make("dl", {}, ...values.flatMap(({ name, dd }) => [make("dt", {}, name), dd]));
    return { list, refresh: () => values.forEach(({ value, dd }) => (dd.textContent = value())) };
  }

  private showFigure(figure: FigureSpec, index: number) {
    const kinematics = this.kinematics[index]!;
    const com = new Vector3();
    const { list, refresh } = this.list([
      ["model", () => figure.model],
      ["mass", () => `${pretty(figure.mass)} kg`],
      ["links, joints", () => `${figure.links.length}, ${figure.joints.length}`],
      ["centre of mass", () => vector(kinematics.centerOfMass(com))],
    ]);
    this.element.append(make("h2", {}, figure.name), list);
    const joints = this.pose ? figure.joints.map((joint) => this.joint(figure, index, joint)) : [];
    for (const joint of joints) this.element.append(joint.element);
    this.refresh = () => {
      refresh();
      for (const joint of joints) joint.refresh();
    };
  }

  private showLink(figure: FigureSpec, body: BodyRef) {
    const link = figure.links[body.link]!;
    const p = new Vector3();
    const pose = (): Matrix4 => this.kinematics[body.figure]!.poses[body.link]!;
    const { list, refresh } = this.list([
      ["position", () => vector(p.setFromMatrixPosition(pose()))],
      ["mass", () => (link.mass ? `${pretty(link.mass)} kg` : "none")],
    ]);
    this.element.append(make("h2", {}, link.name), list);
    // The joints between this link and the nearest ancestor with mass or shapes: a hip is three hinges.
    const parts: { refresh: () => void }[] = [];
    for (let l = body.link; l > 0; ) {
      const joint = figure.joints[l - 1]!;
      const part = this.joint(figure, body.figure, joint);
      this.element.append(part.element);
      parts.push(part);
      l = joint.parent;
      if ((figure.links[l]?.mass ?? 0) > 0 || (figure.links[l]?.shapes.length ?? 0) > 0) break;
    }
    this.refresh = () => {
      refresh();
      for (const part of parts) part.refresh();
    };
  }

  private joint(figure: FigureSpec, index: number, joint: JointSpec) {
    const element = make("div");
    const updates: (() => void)[] = [];
    (joint.rows ?? []).forEach((row, k) => {
      const column = row.terms[0]?.[0];
      const name = column !== undefined && !joint.follows ? (figure.q_names[column] ?? joint.name) : joint.name;
      const angular = joint.chain.find((c) => c.coordinate === k)?.kind !== "slide";
      const output = make("output");
      const line = make("div", { class: "coordinate" }, make("span", {}, joint.follows ? `${name} (geared)` : name), output);
      if (!joint.follows && column !== undefined) {
        const button = make("button", { class: "icon", "aria-label": `Plot ${name}`, onclick: () => this.plot(`${figure.name}/q/${name}`) });
        button.innerHTML = icon("plot");
        line.append(button);
      }
      const slider = this.pose && !joint.follows && column !== undefined ? this.slider(index, column, name, row.lower, row.upper, angular) : undefined;
      if (slider) line.append(slider);
      element.append(line);
      updates.push(() => {
        const x = Kinematics.value(joint, k, this.q()[index] ?? []);
        output.textContent = angular ? `${pretty((x * 180) / Math.PI)}°` : `${pretty(x)} m`;
        if (slider && document.activeElement !== slider) slider.value = String(x);
      });
    });
    if (joint.quaternion !== undefined) element.append(make("p", { class: "quiet" }, `${joint.name}: ${joint.type}`));
    return { element, refresh: () => updates.forEach((update) => update()) };
  }

  private slider(figure: number, column: number, name: string, lower: number | null, upper: number | null, angular: boolean) {
    const reach = angular ? Math.PI : 1;
    const slider = make("input", { type: "range", min: lower ?? -reach, max: upper ?? reach, step: "any", "aria-label": name });
    slider.addEventListener("input", () => this.pose?.(figure, column, Number(slider.value)));
    slider.addEventListener("dblclick", () => this.pose?.(figure, column, 0));
    return slider;
  }
}

function vector(v: Vector3): string {
  return [v.x, v.y, v.z].map((x) => x.toFixed(3).replace(/^-(?=[0.]*$)/, "").replace("-", "−")).join("  ") + " m";
}
