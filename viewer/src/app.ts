import { Box3, Matrix4, Plane, Vector3 } from "three";
import { Bodies, environmentOf, type BodyStyle, type MeshLoader } from "./bodies";
import { channelsOf } from "./channels";
import { Details } from "./details";
import { byId, make } from "./dom";
import type { BodyRef, Frame } from "./frame";
import { setIcon } from "./icons";
import { Kinematics } from "./kinematics";
import type { Live } from "./live";
import { meshLoader } from "./meshes";
import { Overlays, type OverlayName } from "./overlays";
import { Plots } from "./plots";
import type { Recording } from "./recording";
import type { Scene } from "./scene";
import { fillHelp, listen, type Shortcut } from "./shortcuts";
import { Stage, type Preset } from "./stage";
import { STAGE, storeLook, storedLook, type Look } from "./theme";
import { Tree } from "./tree";

/** The page: ties the scene, the time line, the panels and the keys together. */

const LIVE_SECONDS = 20; // that plots of a running simulation reach back

export class App {
  readonly stage: Stage;
  readonly kinematics: Kinematics[];
  readonly overlays: Overlays;
  readonly frameTimes: number[] = []; // [ms] between pictures while playing; tests read it
  playing = false;
  time = 0;
  frame: Frame | undefined;
  selection: BodyRef | undefined;
  private readonly scene: Scene;
  private readonly bodies: Bodies;
  private readonly tree: Tree;
  private readonly details: Details;
  private readonly plots: Plots;
  private readonly q: Float64Array[];
  private readonly still: boolean;
  private style: BodyStyle = "shapes";
  private look: Look;
  private dirty = true;
  private last = 0;
  private loop = true;
  private follow = false;
  private followed = new Vector3();
  private waiting = false;
  private whole: Box3 | undefined; // what the figures reach over the whole time
  private stopped = false;
  private written = 0; // [ms] when texts were last brought up to date
  private resting = 0; // pictures since anything moved
  private readonly pinned = new Set<string>();

  constructor(readonly recording: Recording | undefined, readonly live: Live | undefined, stage: Stage) {
    this.stage = stage;
    this.scene = (recording?.scene ?? live?.scene)!;
    this.still = !live && (recording?.end ?? 0) <= (recording?.start ?? 0);
    this.time = recording?.start ?? 0;
    this.kinematics = this.scene.figures.map((f) => new Kinematics(f));
    this.q = this.scene.figures.map((f) => neutral(f.nq, f.base === "free"));
    const load: MeshLoader = meshLoader((name) => recording?.attachment(name) ?? Promise.resolve(undefined), (text) => this.notice(text));
    this.look = storedLook();
    this.bodies = new Bodies(this.scene, load, STAGE[this.look].highlight, stage.quality);
    this.overlays = new Overlays(this.kinematics);
    stage.scene.add(this.bodies.group, this.overlays.group, environmentOf(this.scene.environment, load, stage.quality));
    this.tree = new Tree(byId("tree"), this.scene, (body) => this.select(body, false));
    const pose = this.still ? (figure: number, index: number, value: number) => this.pose(figure, index, value) : undefined;
    this.details = new Details(byId("details"), this.scene, this.kinematics, () => this.q, (name) => this.plot(name), pose);
    this.plots = new Plots(channelsOf(this.scene), () => this.span(), (visit) => recording?.scan(visit) ?? Promise.resolve(), (t) => this.seek(t));
    this.stage.controls.addEventListener("change", () => (this.dirty = true));
  }

  /** Loads what the first picture needs, shows it, and starts. */
  async start() {
    const built = this.bodies.build(this.style);
    this.resize();
    new ResizeObserver(() => this.resize()).observe(this.stage.canvas.parentElement!);
    if (this.recording) {
      this.frame = await this.recording.frameAt(this.time);
      if (this.frame) this.apply(this.frame);
    }
    this.move();
    this.setLook(this.look);
    await this.chooseCamera();
    this.connectControls();
    this.connectPointer();
    const shortcuts = this.shortcuts();
    listen(shortcuts);
    fillHelp(byId<HTMLDialogElement>("help"), shortcuts);
    this.viewMenu();
    if (this.live) this.startLive(this.live);
    void built.then(() => {
      this.move();
      if (this.scene.figures.some((f) => f.links.some((l) => l.shapes.some((s) => s.type === "mesh")))) this.stage.look(this.bodies.box(), "angle");
      document.documentElement.dataset["ready"] = "true";
    });
    void this.scanEvents();
    requestAnimationFrame((now) => this.tick(now));
  }

  /** A camera that sees the whole motion; one that follows, where that would show little else than ground. */
  private async chooseCamera() {
    const box = this.bodies.box(new Box3());
    const first = box.getSize(new Vector3()).length();
    const frames = this.recording && !this.still ? await Promise.all([0.25, 0.5, 0.75, 1].map((s) => this.recording!.frameAt(this.recording!.start + s * (this.recording!.end - this.recording!.start)))) : [];
    for (const frame of frames) {
      if (!frame) continue;
      this.apply(frame);
      this.kinematics.forEach((k, i) => k.update(this.q[i]!));
      this.bodies.update(this.kinematics.map((k) => k.poses));
      box.union(this.bodies.box(new Box3()));
    }
    if (this.frame) this.apply(this.frame);
    this.move();
    const wide = box.getSize(new Vector3()).length() > 2.4 * first;
    if (wide) this.follow = this.press("follow", true);
    this.whole = wide ? undefined : box;
    this.stage.look(this.whole ?? this.bodies.box(), "angle");
  }

  private span(): [number, number] {
    if (this.live) return [Math.max(0, this.time - LIVE_SECONDS), Math.max(this.time, 1)];
    return [this.recording?.start ?? 0, this.recording?.end ?? 1];
  }

  // ------------------------------------------------------------------------------------------------------------ time

  /** Another recording takes the page over. */
  stop() {
    this.stopped = true;
    this.stage.renderer.dispose();
  }

  private tick(now: number) {
    if (this.stopped) return;
    requestAnimationFrame((next) => this.tick(next));
    const elapsed = Math.min(0.25, (now - this.last) / 1000);
    if (this.playing && !this.live) this.advance(elapsed);
    if (this.playing && this.last > 0) {
      this.frameTimes.push(now - this.last);
      if (this.frameTimes.length > 6000) this.frameTimes.splice(0, 3000);
    }
    this.last = now;
    this.stage.controls.update();
    if (this.dirty) {
      this.dirty = false;
      this.resting = 0;
      this.stage.render();
    } else if (++this.resting === 8) this.stage.renderFine();
  }

  private advance(elapsed: number) {
    const [start, end] = this.span();
    let time = this.time + elapsed * Number(byId<HTMLSelectElement>("speed").value);
    if (time >= end) {
      if (this.loop) time = start + ((time - start) % Math.max(end - start, 1e-9));
      else {
        time = end;
        this.setPlaying(false);
      }
    }
    this.show(time);
  }

  /** Shows a time if its frames are at hand; otherwise stays until they are. */
  private show(time: number): boolean {
    const found = this.recording?.peek(time);
    if (!found) {
      if (!this.waiting) {
        this.waiting = true;
        void this.recording?.frameAt(time).then(() => {
          this.waiting = false;
          if (!this.playing) this.show(time);
        }, (error: Error) => this.notice(error.message));
      }
      return false;
    }
    const [before, after] = found;
    this.time = time;
    this.frame = before;
    const gap = after ? after.time - before.time : 0;
    const s = after && gap > 0 && gap < 0.25 ? Math.min(1, Math.max(0, (time - before.time) / gap)) : 0;
    this.q.forEach((q, i) => {
      if (s > 0) this.kinematics[i]!.interpolate(before.figures[i]!.q, after!.figures[i]!.q, s, q);
      else q.set(before.figures[i]!.q);
    });
    this.move();
    return true;
  }

  async seek(time: number) {
    const [start, end] = this.span();
    const wanted = Math.min(end, Math.max(start, time));
    if (this.live || this.still) return;
    if (this.show(wanted)) return;
    await this.recording?.frameAt(wanted);
    this.show(wanted);
  }

  private async step(count: 1 | -1) {
    this.setPlaying(false);
    if (this.live) this.live.send({ type: "step" });
    else if (this.recording) await this.seek(await this.recording.step(this.time, count));
  }

  setPlaying(playing: boolean) {
    if (this.still) return;
    if (playing && !this.live && this.time >= this.span()[1] - 1e-9) this.time = this.span()[0];
    this.playing = playing;
    this.frameTimes.length = 0;
    if (!playing) this.write();
    const button = byId("play");
    setIcon(button, playing ? "pause" : "play");
    button.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  private toggle() {
    if (this.live) this.live.send({ type: this.playing ? "pause" : "play" });
    this.setPlaying(!this.playing);
  }

  // ----------------------------------------------------------------------------------------------------------- picture

  private apply(frame: Frame) {
    this.q.forEach((q, i) => q.set(frame.figures[i]!.q));
  }

  /** Everything that depends on q and on the frame. */
  private move() {
    this.kinematics.forEach((k, i) => k.update(this.q[i]!));
    this.bodies.update(this.kinematics.map((k) => k.poses));
    this.overlays.update(this.frame, this.time);
    this.followFigure();
    document.documentElement.dataset["time"] = this.time.toFixed(6);
    this.dirty = true;
    // Where the processor draws everything, texts and plots change ten times a second while playing.
    const now = performance.now();
    if (this.playing && this.stage.quality === "low" && now - this.written < 100) return;
    this.written = now;
    this.write();
  }

  /** Clock, slider, details and plots. */
  private write() {
    this.details.update();
    byId("clock").textContent = `${this.time.toFixed(3)} s`;
    const slider = byId<HTMLInputElement>("time");
    if (!this.live) {
      slider.value = String(this.time);
      slider.setAttribute("aria-valuetext", `${this.time.toFixed(2)} seconds`);
    }
    if (!byId("app").classList.contains("no-plots")) this.plots.show(this.time);
  }

  private followFigure() {
    const chosen = this.kinematics[Math.max(0, this.selection?.figure ?? 0)];
    if (!chosen) return;
    const at = chosen.centerOfMass(new Vector3());
    if (this.follow) this.stage.follow(at.clone().sub(this.followed));
    this.followed = at;
  }

  private resize() {
    const box = this.stage.canvas.parentElement!.getBoundingClientRect();
    this.stage.resize(Math.max(1, box.width), Math.max(1, box.height));
    this.stage.render();
    this.plots?.draw();
  }

  box(out = new Box3()): Box3 {
    return this.bodies.box(out);
  }

  setLook(look: Look) {
    this.look = look;
    document.documentElement.dataset["look"] = look;
    this.stage.setLook(look);
    this.plots.draw();
    this.dirty = true;
  }

  /** One picture of a time, for stills. */
  async stillAt(time: number) {
    const frame = await this.recording?.frameAt(time);
    if (frame) {
      this.time = time;
      this.frame = frame;
      this.apply(frame);
    }
    this.move();
  }

  // --------------------------------------------------------------------------------------------------------- selection

  select(body: BodyRef | undefined, tell = true) {
    this.selection = body;
    this.bodies.select(body);
    this.details.show(body);
    if (tell) this.tree.show(body);
    document.documentElement.dataset["selected"] = body ? (this.scene.figures[body.figure]?.links[body.link]?.name ?? this.scene.figures[body.figure]?.name ?? "") : "";
    this.dirty = true;
  }

  private pose(figure: number, index: number, value: number) {
    this.q[figure]![index] = value;
    this.move();
  }

  private plot(name: string) {
    this.setPanel("plots", true);
    if (!this.plots.add(name)) this.notice(`There is no channel '${name}'.`);
    this.plots.show(this.time);
  }

  notice(text: string) {
    const element = byId("notice");
    element.textContent = text;
    element.hidden = false;
    clearTimeout(Number(element.dataset["timer"]));
    element.dataset["timer"] = String(setTimeout(() => (element.hidden = true), 5000));
  }

  // ---------------------------------------------------------------------------------------------------------- controls

  private setPanel(name: "side" | "plots", shown: boolean) {
    byId("app").classList.toggle(`no-${name}`, !shown);
    byId(`${name}-button`).setAttribute("aria-expanded", String(shown));
    if (name === "plots" && shown) this.plots.show(this.time);
  }
  private togglePanel(name: "side" | "plots") {
    this.setPanel(name, byId("app").classList.contains(`no-${name}`));
  }

  private camera(preset: Preset) {
    byId<HTMLSelectElement>("camera").value = preset;
    this.stage.look(this.whole ?? this.bodies.box(), preset);
    this.dirty = true;
  }

  private press(id: string, on: boolean) {
    byId(id).setAttribute("aria-pressed", String(on));
    return on;
  }

  private speedBy(steps: number) {
    const select = byId<HTMLSelectElement>("speed");
    select.selectedIndex = Math.min(select.options.length - 1, Math.max(0, select.selectedIndex + steps));
    select.dispatchEvent(new Event("change"));
  }

  private connectControls() {
    for (const element of document.querySelectorAll<HTMLElement>("[data-icon]")) setIcon(element, element.dataset["icon"]!);
    const [start, end] = this.span();
    const slider = byId<HTMLInputElement>("time");
    slider.min = String(start);
    slider.max = String(end);
    slider.value = String(this.time);
    slider.addEventListener("input", () => {
      this.setPlaying(false);
      void this.seek(Number(slider.value));
    });
    byId("length").textContent = `/ ${end.toFixed(2)} s`;
    byId("title").textContent = this.scene.notes["title"] ?? this.recording?.name ?? "live";
    document.title = `${byId("title").textContent} – kansetsu`;
    byId("play").addEventListener("click", () => this.toggle());
    byId("back").addEventListener("click", () => void this.step(-1));
    byId("ahead").addEventListener("click", () => void this.step(1));
    byId("loop").addEventListener("click", () => (this.loop = this.press("loop", !this.loop)));
    byId("follow").addEventListener("click", () => (this.follow = this.press("follow", !this.follow)));
    byId("speed").addEventListener("change", () => this.live?.send({ type: "speed", value: Number(byId<HTMLSelectElement>("speed").value) }));
    byId("camera").addEventListener("change", () => this.camera(byId<HTMLSelectElement>("camera").value as Preset));
    byId("side-button").addEventListener("click", () => this.togglePanel("side"));
    byId("plots-button").addEventListener("click", () => this.togglePanel("plots"));
    byId("look-button").addEventListener("click", () => this.switchLook());
    byId("help-button").addEventListener("click", () => byId<HTMLDialogElement>("help").showModal());
    byId("save-csv").addEventListener("click", () => this.plots.saveCsv());
    byId("save-svg").addEventListener("click", () => this.plots.saveSvg());
    const search = byId<HTMLInputElement>("search");
    search.addEventListener("input", () => this.tree.search(search.value));
    search.addEventListener("keydown", (event) => event.key === "Enter" && this.tree.chooseFirst());
    const channel = byId<HTMLInputElement>("channel");
    channel.addEventListener("change", () => {
      if (channel.value) this.plot(channel.value);
      channel.value = "";
    });
    byId("transport").hidden = this.still;
    if (this.still) byId("app").style.gridTemplateRows = "48px minmax(0, 1fr) auto 0";
    if (this.still && this.scene.figures.length > 0) this.select({ figure: 0, link: -1 });
    this.setPanel("side", innerWidth > 720);
    if (this.recording && !this.recording.complete) this.notice("The recording ends early; what is whole is shown.");
    for (const name of ["back", "loop", "length"]) byId(name).hidden = !!this.live;
    byId("time").parentElement!.style.visibility = this.live ? "hidden" : "";
  }

  private switchLook() {
    this.setLook(this.look === "dark" ? "light" : "dark");
    storeLook(this.look);
  }

  private toggles(): { name: string; key: string; get: () => boolean; set: (on: boolean) => void }[] {
    const overlay = (name: OverlayName, label: string, key: string) => ({
      name: label,
      key,
      get: () => this.overlays.shown[name],
      set: (on: boolean) => {
        this.overlays.shown[name] = on;
        this.legend();
        this.move();
      },
    });
    return [
      overlay("contacts", "Contact forces", "c"),
      overlay("com", "Centres of mass and pressure", "m"),
      overlay("joints", "Joint axes", "j"),
      overlay("frames", "Link frames", "a"),
      overlay("trails", "Trails", "t"),
      { name: "Capsule body", key: "b", get: () => this.style === "bones", set: (on) => void this.setStyle(on ? "bones" : "shapes") },
      { name: "Ground", key: "g", get: () => this.stage.ground, set: (on) => { this.stage.ground = on; this.dirty = true; } },
    ];
  }

  async setStyle(style: BodyStyle) {
    this.style = style;
    const built = this.bodies.build(style);
    this.move();
    await built;
    this.bodies.select(this.selection);
    this.move();
  }

  private viewMenu() {
    const options = byId("view-options");
    for (const toggle of this.toggles()) {
      const box = make("input", { type: "checkbox", id: `show-${toggle.key}` });
      box.checked = toggle.get();
      box.addEventListener("change", () => toggle.set(box.checked));
      options.append(make("label", {}, box, toggle.name, make("kbd", {}, toggle.key.toUpperCase())));
    }
    const scale = make("input", { type: "range", min: -1, max: 1, step: 0.05, value: 0 });
    scale.addEventListener("input", () => {
      this.overlays.forceScale = 10 ** Number(scale.value);
      this.move();
    });
    options.append(make("label", { class: "range" }, "Arrow length", scale));
    addEventListener("pointerdown", (event) => {
      const menu = byId<HTMLDetailsElement>("view-menu");
      if (menu.open && !menu.contains(event.target as Node)) menu.open = false;
    });
    this.legend();
  }

  private legend() {
    const shown = this.overlays.shown;
    const entries: [boolean, string, string][] = [
      [shown.contacts && this.hasForces(), "#d55e00", "contact force, 1 m = 1 kN"], [shown.com, "#e69f00", "centre of mass"],
      [shown.com && this.hasForces(), "#cc79a7", "centre of pressure"], [shown.joints, "#56b4e9", "joint axis"],
    ];
    byId("legend").replaceChildren(...entries.filter(([on]) => on).map(([, color, text]) => {
      const dot = make("i");
      dot.style.background = color;
      return make("span", {}, dot, text);
    }));
  }
  private hasForces() {
    return !!this.live || (this.frame?.contacts.length ?? 0) > 0;
  }

  private shortcuts(): Shortcut[] {
    const toggle = (key: string) => () => byId<HTMLInputElement>(`show-${key}`).click();
    return [
      { keys: [" "], label: "Space", help: "Play or pause", run: () => this.toggle() },
      { keys: ["ArrowRight"], label: "→", help: "One frame ahead", run: () => void this.step(1) },
      { keys: ["ArrowLeft"], label: "←", help: "One frame back", run: () => void this.step(-1) },
      { keys: ["Shift+ArrowRight"], label: "Shift →", help: "One second ahead", run: () => void this.seek(this.time + 1) },
      { keys: ["Shift+ArrowLeft"], label: "Shift ←", help: "One second back", run: () => void this.seek(this.time - 1) },
      { keys: ["Home"], label: "Home", help: "To the beginning", run: () => void this.seek(-Infinity) },
      { keys: ["End"], label: "End", help: "To the end", run: () => void this.seek(Infinity) },
      { keys: ["+", "="], label: "+", help: "Faster", run: () => this.speedBy(1) },
      { keys: ["-"], label: "−", help: "Slower", run: () => this.speedBy(-1) },
      { keys: ["l"], label: "L", help: "Loop", run: () => byId("loop").click() },
      { keys: ["f"], label: "F", help: "Camera follows", run: () => byId("follow").click() },
      { keys: ["1"], label: "1", help: "Camera at an angle", run: () => this.camera("angle") },
      { keys: ["2"], label: "2", help: "Camera in front", run: () => this.camera("front") },
      { keys: ["3"], label: "3", help: "Camera at the side", run: () => this.camera("side") },
      { keys: ["4"], label: "4", help: "Camera above", run: () => this.camera("top") },
      ...this.toggles().map((t) => ({ keys: [t.key], label: t.key.toUpperCase(), help: t.name, run: toggle(t.key) })),
      { keys: ["s"], label: "S", help: "Links panel", run: () => this.togglePanel("side") },
      { keys: ["p"], label: "P", help: "Plots", run: () => this.togglePanel("plots") },
      { keys: ["d"], label: "D", help: "Dark or light", run: () => this.switchLook() },
      { keys: ["/"], label: "/", help: "Search", run: () => { this.setPanel("side", true); byId("search").focus(); } },
      { keys: ["Escape"], label: "Esc", help: "Select nothing, close", run: () => this.escape() },
      { keys: ["?"], label: "?", help: "This sheet", run: () => this.toggleHelp() },
    ];
  }

  private toggleHelp() {
    const help = byId<HTMLDialogElement>("help");
    if (help.open) help.close();
    else help.showModal();
  }
  private escape() {
    byId<HTMLDetailsElement>("view-menu").open = false;
    const search = byId<HTMLInputElement>("search");
    if (search.value) {
      search.value = "";
      this.tree.search("");
    }
    this.select(undefined);
    byId("canvas").focus();
  }

  // ----------------------------------------------------------------------------------------------------------- pointer

  private connectPointer() {
    const canvas = this.stage.canvas;
    let down: { x: number; y: number } | undefined;
    canvas.addEventListener("pointerdown", (event) => {
      down = { x: event.clientX, y: event.clientY };
      if (this.live && event.button === 0) this.beginDrag(this.live, event);
    });
    canvas.addEventListener("pointerup", (event) => {
      const moved = !down || Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4;
      down = undefined;
      if (moved || event.button !== 0) return;
      this.select(this.bodies.pick(this.stage.ray(event.clientX, event.clientY))?.body);
    });
    canvas.addEventListener("dblclick", (event) => {
      const found = this.bodies.pick(this.stage.ray(event.clientX, event.clientY));
      if (!found) return;
      if (this.live) this.pin(this.live, found.body, found.hit.point);
      else {
        this.stage.controls.target.copy(found.hit.point);
        this.dirty = true;
      }
    });
  }

  /** A body hangs on the pointer by a spring, in the plane through the point that faces the camera. */
  private beginDrag(live: Live, event: PointerEvent) {
    const found = this.bodies.pick(this.stage.ray(event.clientX, event.clientY));
    if (!found) return;
    const { body, hit } = found;
    const point = this.local(body, hit.point);
    const plane = new Plane().setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new Vector3()), hit.point);
    this.stage.controls.enabled = false;
    this.stage.canvas.setPointerCapture(event.pointerId);
    const move = (e: PointerEvent) => {
      const target = this.stage.ray(e.clientX, e.clientY).ray.intersectPlane(plane, new Vector3());
      if (target) live.send({ type: "drag", ...body, point, target: target.toArray() });
    };
    const end = () => {
      live.send({ type: "drop" });
      this.stage.controls.enabled = true;
      this.stage.canvas.removeEventListener("pointermove", move);
      this.stage.canvas.removeEventListener("pointerup", end);
      this.stage.canvas.removeEventListener("pointercancel", end);
    };
    this.stage.canvas.addEventListener("pointermove", move);
    this.stage.canvas.addEventListener("pointerup", end);
    this.stage.canvas.addEventListener("pointercancel", end);
  }

  private local(body: BodyRef, point: Vector3): number[] {
    const X = this.kinematics[body.figure]!.poses[body.link]!;
    return point.clone().applyMatrix4(new Matrix4().copy(X).invert()).toArray();
  }

  private pin(live: Live, body: BodyRef, point: Vector3) {
    const key = `${body.figure}/${body.link}`;
    if (this.pinned.delete(key)) live.send({ type: "release", ...body });
    else {
      this.pinned.add(key);
      live.send({ type: "grab", ...body, point: this.local(body, point) });
    }
    this.notice(this.pinned.has(key) ? "Grabbed: double-click again to release." : "Released.");
  }

  // -------------------------------------------------------------------------------------------------------------- live

  private startLive(live: Live) {
    this.setPlaying(live.playing);
    live.onState = () => this.setPlaying(live.playing);
    live.onClose = (reason) => {
      this.setPlaying(false);
      this.notice(reason || "The simulation has ended.");
    };
    live.onFrame = (frame) => {
      if (frame.figures.length !== this.q.length) return;
      this.time = frame.time;
      this.frame = frame;
      this.apply(frame);
      this.plots.push(frame, LIVE_SECONDS);
      this.move();
    };
    const panel = make("section", { "aria-label": "Simulation", id: "live-panel" });
    panel.style.padding = "8px 12px";
    const gravity = this.liveSlider("gravity", 0, 20, Math.hypot(...live.hello.gravity), (value) => live.send({ type: "gravity", value: [0, 0, -value] }));
    panel.append(gravity, ...live.hello.controls.map((c) => this.liveSlider(c.name, c.min, c.max, c.value, (value) => live.send({ type: "control", name: c.name, value }))));
    const reset = make("button", { class: "text", onclick: () => live.send({ type: "reset" }) }, "Start again");
    panel.append(reset);
    byId("side").append(panel);
  }

  private liveSlider(name: string, min: number, max: number, value: number, send: (value: number) => void) {
    const output = make("output", {}, value.toFixed(2));
    const slider = make("input", { type: "range", min, max, step: "any", value, "aria-label": name });
    slider.addEventListener("input", () => {
      output.textContent = Number(slider.value).toFixed(2);
      send(Number(slider.value));
    });
    return make("div", { class: "coordinate" }, make("span", {}, name), output, slider);
  }

  // ------------------------------------------------------------------------------------------------------------ events

  /** Marks events on the time line, once the page has nothing better to do. Very long recordings are left alone. */
  private async scanEvents() {
    if (!this.recording || this.still || this.recording.chunks.length > 400) return;
    await new Promise((done) => setTimeout(done, 600));
    const events: { time: number; text: string }[] = [];
    await this.recording.scan((frames) => {
      for (const frame of frames) for (const text of frame.events) events.push({ time: frame.time, text });
    }).catch(() => undefined);
    const canvas = byId<HTMLCanvasElement>("marks");
    const [start, end] = this.span();
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    const g = canvas.getContext("2d")!;
    g.scale(devicePixelRatio, devicePixelRatio);
    g.fillStyle = "#d55e00";
    for (const e of events) g.fillRect(8 + ((e.time - start) / Math.max(end - start, 1e-9)) * (width - 16) - 1, 3, 2, 7);
    byId<HTMLInputElement>("time").title = events.slice(0, 12).map((e) => `${e.time.toFixed(2)} s ${e.text}`).join("\n");
  }
}

function neutral(nq: number, free: boolean): Float64Array {
  const q = new Float64Array(nq);
  if (free) q[6] = 1;
  return q;
}

