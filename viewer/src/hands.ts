import { BufferAttribute, BufferGeometry, Color, Line, LineBasicMaterial, Matrix4, Mesh, MeshBasicMaterial, Plane, SphereGeometry, Vector3 } from "three";
import type { App } from "./app";
import { byId, download, make, pretty } from "./dom";
import type { BodyRef, Frame } from "./frame";
import type { Live } from "./live";

/** Interaction with a running simulation: pull, hold and release bodies, change gravity and controllers. */
export class Hands {
  private target: Vector3 | undefined; // of the pull
  private readonly spring: Line;
  private readonly label = make("output", { class: "pull", hidden: true });
  private readonly record = make("button", { class: "text", "aria-pressed": "false", title: "Record the simulation; a second click saves it as an .mcap file (R)", onclick: () => this.toggleRecording() }, "Record");
  private began = false; // a recording is running
  private mine = false; // this page started the recording and will receive it

  constructor(private readonly app: App, private readonly live: Live) {
    byId("side").append(this.panel());
    const color = new Color("#d1495b");
    this.spring = new Line(new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(6), 3)), new LineBasicMaterial({ color, depthTest: false, transparent: true }));
    this.spring.add(new Mesh(new SphereGeometry(0.018, 16, 12), new MeshBasicMaterial({ color, depthTest: false, transparent: true })));
    this.spring.renderOrder = this.spring.children[0]!.renderOrder = 11;
    this.spring.frustumCulled = this.spring.visible = false;
    app.stage.scene.add(this.spring);
    app.stage.canvas.parentElement!.append(this.label);
  }

  /** Pulls a body by a spring to the pointer, in the plane through the point and parallel to the picture. */
  drag(event: PointerEvent) {
    const { stage } = this.app;
    const found = this.app.pick(event);
    if (!found) return;
    const point = this.local(found.body, found.point);
    const plane = new Plane().setFromNormalAndCoplanarPoint(stage.camera.getWorldDirection(new Vector3()), found.point);
    stage.controls.enabled = false;
    stage.canvas.setPointerCapture(event.pointerId);
    const until = new AbortController();
    const listen = (names: string[], run: (e: PointerEvent) => void) => {
      for (const name of names) stage.canvas.addEventListener(name, (e) => run(e as PointerEvent), { signal: until.signal });
    };
    listen(["pointermove"], (e) => {
      const target = stage.ray(e.clientX, e.clientY).ray.intersectPlane(plane, new Vector3());
      this.target = target ?? this.target;
      if (target) this.live.send({ type: "drag", ...found.body, point, target: target.toArray() });
    });
    listen(["pointerup", "pointercancel"], () => {
      this.live.send({ type: "drop" });
      this.target = undefined;
      this.spring.visible = false;
      this.label.hidden = true;
      stage.controls.enabled = true;
      until.abort();
    });
  }

  /** Draws the pulled point, the spring to the pointer, and its force. */
  showPull(frame: Frame) {
    const pull = frame.connections.find((c) => c.name === "drag");
    this.spring.visible = !!pull && !!this.target;
    this.label.hidden = !this.spring.visible;
    if (!pull || !this.target) return;
    const from = new Vector3(...pull.point);
    const position = this.spring.geometry.attributes["position"] as BufferAttribute;
    position.setXYZ(0, from.x, from.y, from.z);
    position.setXYZ(1, this.target.x, this.target.y, this.target.z);
    position.needsUpdate = true;
    this.spring.children[0]!.position.copy(from);
    const at = from.clone().lerp(this.target, 0.5).project(this.app.stage.camera);
    const { clientWidth, clientHeight } = this.app.stage.canvas;
    this.label.style.transform = `translate(${((at.x + 1) / 2) * clientWidth + 10}px, ${((1 - at.y) / 2) * clientHeight}px)`;
    this.label.textContent = `${pretty(Math.hypot(...pull.force))} N`;
  }

  /** Holds the body at the point (of the world) or at its centre; releases it if it is held. */
  toggle(body: BodyRef, point?: Vector3) {
    if (body.link < 0) return;
    if (this.holds(body)) {
      this.live.send({ type: "release", ...body });
      this.app.notice("Released.");
      return;
    }
    const com = this.app.scene.figures[body.figure]?.links[body.link]?.com ?? [0, 0, 0];
    this.live.send({ type: "grab", ...body, point: point ? this.local(body, point) : [...com] });
    this.app.notice("Held: double-click, or H, releases it.");
  }

  /** As the simulation tells; other viewers may hold things, too. */
  private holds(body: BodyRef) {
    return !!this.app.frame?.connections.some((c) => c.name === "grip" && c.a.figure === body.figure && c.a.link === body.link);
  }

  private local(body: BodyRef, point: Vector3): number[] {
    const X = this.app.kinematics[body.figure]!.poses[body.link]!;
    return point.clone().applyMatrix4(new Matrix4().copy(X).invert()).toArray();
  }

  private panel() {
    const { hello } = this.live;
    const now = new Vector3(...hello.gravity);
    const down = now.length() > 1e-9 ? now.clone().normalize() : new Vector3(0, 0, -1);
    const gravity = this.slider("gravity", 0, 20, now.length(), "m/s²", (value) => this.live.send({ type: "gravity", value: down.clone().multiplyScalar(value).toArray() }));
    const controls = hello.controls.map((c) => this.slider(c.name, c.min, c.max, c.value, c.unit ?? "", (value) => this.live.send({ type: "control", name: c.name, value })));
    const hold = make("button", { class: "text", title: "Hold or release the selected link (H)", onclick: () => this.toggleSelected() }, "Hold");
    const again = make("button", { class: "text", title: "Back to the start of the simulation", onclick: () => this.live.send({ type: "reset" }) }, "Restart");
    this.showRecording();
    return make("section", { "aria-label": "Simulation", id: "live-panel" }, gravity, ...controls, make("div", { class: "buttons" }, hold, again, this.record));
  }

  toggleRecording() {
    this.mine ||= !this.live.recording;
    this.live.send({ type: "record", on: !this.live.recording });
  }

  /** The button as the simulation says; a recording that this page began and that has ended is saved. */
  showRecording() {
    const on = this.live.recording;
    this.record.textContent = on ? "Stop recording" : "Record";
    this.record.setAttribute("aria-pressed", String(on));
    if (on || !this.mine || !this.began) {
      this.began = on;
      return;
    }
    this.mine = this.began = false;
    void this.save();
  }

  private async save() {
    const bytes = await this.live.attachment("recording.mcap");
    if (!bytes) return this.app.notice("The recording cannot be fetched.");
    download("live.mcap", new Blob([bytes as BlobPart], { type: "application/octet-stream" }));
    this.app.notice(`Saved live.mcap, ${pretty(bytes.length / 1e6)} MB.`);
  }

  toggleSelected() {
    const body = this.app.selection;
    if (body && body.link >= 0) this.toggle(body);
    else this.app.notice("Select a link first: click it.");
  }

  private slider(name: string, min: number, max: number, value: number, unit: string, send: (value: number) => void) {
    const output = make("output", {});
    const write = (x: number) => (output.textContent = `${x.toFixed(2)} ${unit}`.trim());
    write(value);
    const slider = make("input", { type: "range", min, max, step: "any", value, "aria-label": name });
    slider.addEventListener("input", () => {
      write(Number(slider.value));
      send(Number(slider.value));
    });
    return make("div", { class: "coordinate" }, make("span", {}, name), output, slider);
  }
}
