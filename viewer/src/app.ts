import { Box3, Vector3 } from "three";
import { Bodies, environmentOf, type BodyStyle, type MeshLoader } from "./bodies";
import { channelsOf } from "./channels";
import { Controls, press } from "./controls";
import { Details } from "./details";
import { byId, showWarning } from "./dom";
import type { BodyRef, Frame } from "./frame";
import { groundLevel } from "./ground";
import { Hands } from "./hands";
import { setIcon } from "./icons";
import { Kinematics } from "./kinematics";
import type { Live } from "./live";
import { Marks } from "./marks";
import { meshLoader, textureLoader } from "./meshes";
import { Overlays } from "./overlays";
import { Past } from "./past";
import { Plots } from "./plots";
import type { Recording } from "./recording";
import { isShapeless, type Scene } from "./scene";
import { Stage, type Preset } from "./stage";
import { STAGE, storeLook, storedLook, type Look } from "./theme";
import { Tree } from "./tree";

/** The page: connects the scene, time, panels (controls.ts) and interaction (hands.ts). */

const LIVE_SECONDS = 20; // [s] shown in plots of a running simulation
const LIVE_PAST = 60; // [s] that can be rewound; the simulation keeps the same span
const OUT_OF_VIEW = 0.5; // of the distance from the centre of the picture to its edge: beyond it, half of a body that fills the picture is out of view
const LOOK_AGAIN = 500; // [ms] between checks whether everything is in view
const FOLLOW_SLACK = 0.07; // of the camera's distance that a followed figure may rise or sink: a tenth of the picture's height, 0.3 m for a person
const FRAME_LENGTH = 0.1; // [m] in view around the origins of links without shapes

export class App {
  readonly stage: Stage;
  readonly kinematics: Kinematics[];
  readonly overlays: Overlays;
  readonly frameTimes: number[] = []; // [ms] between pictures while playing; tests read it
  playing = false;
  time = 0;
  frame: Frame | undefined;
  selection: BodyRef | undefined;
  readonly scene: Scene;
  readonly tree: Tree;
  readonly plots: Plots;
  readonly past = new Past(LIVE_PAST);
  readonly still: boolean; // a single frame
  hands: Hands | undefined; // of a running simulation
  style: BodyStyle = "shapes";
  loop = true;
  follow = false;
  private readonly bodies: Bodies;
  private readonly details: Details;
  private readonly q: Float64Array[];
  private controls: Controls | undefined;
  private marks: Marks | undefined;
  private look: Look;
  private dirty = true;
  private last = 0;
  private followed = new Vector3();
  private waiting = false;
  private whole: Box3 | undefined; // extent of the figures over the whole recording
  private handled = false; // the camera was moved by hand, and is not moved automatically any more
  private looked = 0; // [ms] time of the last check whether everything is in view
  private stopped = false;
  private news: Frame | undefined; // of a running simulation, not shown yet
  private written = 0; // [ms] time of the last update of texts
  private resting = 0; // pictures since the last motion

  constructor(readonly recording: Recording | undefined, readonly live: Live | undefined, stage: Stage) {
    this.stage = stage;
    this.scene = (recording?.scene ?? live?.scene)!;
    this.still = !live && (recording?.end ?? 0) <= (recording?.start ?? 0);
    this.time = recording?.start ?? 0;
    this.kinematics = this.scene.figures.map((f) => new Kinematics(f));
    this.q = this.scene.figures.map((f) => neutral(f.nq, f.base === "free"));
    const read = (name: string) => recording?.attachment(name) ?? live?.attachment(name) ?? Promise.resolve(undefined);
    const complain = (text: string) => this.notice(text);
    const load: MeshLoader = meshLoader(read, complain);
    this.look = storedLook();
    this.bodies = new Bodies(this.scene, load, textureLoader(read, complain), STAGE[this.look].highlight, stage.quality);
    this.overlays = new Overlays(this.kinematics, stage.quality);
    this.overlays.shown.frames = isShapeless(this.scene); // else there is nothing to see
    stage.scene.add(this.bodies.group, this.overlays.group, environmentOf(this.scene.environment, load, stage.quality));
    this.tree = new Tree(byId("tree"), this.scene, (body) => this.select(body, false));
    const pose = this.still ? (figure: number, index: number, value: number) => this.pose(figure, index, value) : undefined;
    this.details = new Details(byId("details"), this.scene, this.kinematics, () => this.q, (name) => this.plot(name), pose);
    this.plots = new Plots(channelsOf(this.scene), () => this.span(), async (visit) => (recording ? recording.scan(visit) : this.past.scan(visit)), (t) => this.seek(t));
    this.stage.controls.addEventListener("change", () => (this.dirty = true));
  }

  /** Loads what the first picture needs, shows it, and starts. */
  async start() {
    const built = this.bodies.build(this.style);
    this.resize();
    new ResizeObserver(() => this.resize()).observe(this.stage.canvas.parentElement!);
    this.frame = this.live ? await this.live.firstFrame() : await this.recording?.frameAt(this.time);
    if (this.frame) this.apply(this.frame);
    this.move();
    this.setLook(this.look);
    this.proportions();
    this.placeGround();
    await this.chooseCamera();
    if (this.live) this.hands = new Hands(this, this.live);
    this.controls = new Controls(this);
    if (this.scene.missing?.length) this.warnOfMissing(this.scene.missing);
    this.connectPointer();
    if (this.live) this.startLive(this.live);
    if (this.still && this.scene.figures.length > 0) this.select({ figure: 0, link: -1 });
    void built.then(() => {
      this.proportions();
      this.move();
      this.placeGround();
      if (this.scene.figures.some((f) => f.links.some((l) => l.shapes.some((s) => s.type === "mesh")))) this.stage.look(this.bodies.box(), "angle");
      this.stage.render();
      document.documentElement.dataset["ready"] = "true";
    });
    if (this.recording && !this.still) {
      this.marks = new Marks(this.recording);
      void this.marks.scan();
    }
    requestAnimationFrame((now) => this.tick(now));
  }

  /** Forces and marks in proportion to the heaviest figure. */
  private proportions() {
    const masses = this.scene.figures.map((f) => f.mass);
    const heaviest = masses.indexOf(Math.max(...masses));
    const box = this.bodies.boxOf({ figure: heaviest, link: -1 });
    if (box.isEmpty()) return;
    const size = box.getSize(new Vector3());
    this.overlays.setProportions(9.81 * masses[heaviest]!, Math.max(size.x, size.y, size.z));
  }

  /** Places the ground below the present bodies. */
  placeGround() {
    this.bodies.ground = this.stage.groundLevel = groundLevel(this.scene.environment, this.bodies.box());
  }

  /** Shows the whole motion, or follows it if that would show little more than ground. */
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
    const falls = !!this.live && this.scene.environment.length === 0 && this.scene.figures.some((f) => f.base === "free"); // falls for ever
    const wide = falls || box.getSize(new Vector3()).length() > 2.4 * first;
    if (wide) this.follow = press("follow", true);
    this.whole = wide || box.isEmpty() ? undefined : box;
    this.stage.look(this.whole ?? this.box(), "angle");
  }

  span(): [number, number] {
    if (this.live && !this.playing && this.past.end > 0) return [this.past.start, this.past.end];
    if (this.live) return [Math.max(0, this.time - LIVE_SECONDS), Math.max(this.time, 1)];
    return [this.recording?.start ?? 0, this.recording?.end ?? 1];
  }

  // ------------------------------------------------------------------------------------------------------------ time

  /** Hands the page over to another recording. */
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
    const before = this.last;
    this.last = now;
    if (this.news) this.showLive(this.news); // the latest frame
    this.stage.controls.update();
    if (this.dirty) {
      this.dirty = false;
      this.stage.pace(this.playing && this.resting === 0 ? now - before : undefined);
      this.resting = 0;
      this.bodies.moving = true;
      this.stage.render();
    } else if (++this.resting === 8 && this.stage.quality === "low") {
      this.bodies.moving = false;
      this.stage.renderFine();
    }
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

  /** Shows a time as soon as its frames are loaded. */
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
    if (this.live) {
      const frame = this.past.at(wanted);
      if (frame) this.showLive(frame);
      return;
    }
    if (this.still) return;
    if (this.show(wanted)) return;
    await this.recording?.frameAt(wanted);
    this.show(wanted);
  }

  async step(count: 1 | -1) {
    this.setPlaying(false);
    if (this.live) this.stepLive(this.live, count);
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

  toggle() {
    if (this.live) {
      if (!this.playing && this.time < this.past.end - 1e-9) this.live.send({ type: "rewind", time: this.time });
      this.live.send({ type: this.playing ? "pause" : "play" });
    }
    this.setPlaying(!this.playing);
  }

  // ----------------------------------------------------------------------------------------------------------- picture

  private apply(frame: Frame) {
    const figures = frame.figures;
    this.q.forEach((q, i) => q.set(figures[i]!.q));
  }

  /** Everything that depends on q and on the frame. */
  move() {
    this.kinematics.forEach((k, i) => k.update(this.q[i]!));
    this.bodies.update(this.kinematics.map((k) => k.poses));
    this.overlays.update(this.frame, this.time);
    this.followFigure();
    document.documentElement.dataset["time"] = this.time.toFixed(6);
    this.dirty = true;
    // With software rendering, texts and plots are updated ten times a second while playing.
    const now = performance.now();
    if (this.playing && this.stage.quality === "low" && now - this.written < 100) return;
    this.written = now;
    this.write();
  }

  /** Clock, slider, details and plots. */
  private write() {
    this.details.update();
    this.controls?.legend();
    byId("clock").textContent = `${this.time.toFixed(3)} s`;
    const slider = byId<HTMLInputElement>("time");
    if (this.live) [slider.min, slider.max] = [String(this.past.start), String(Math.max(this.past.end, this.past.start + 1e-3))];
    slider.value = String(this.time);
    slider.setAttribute("aria-valuetext", `${this.time.toFixed(2)} seconds`);
    if (!byId("app").classList.contains("no-plots")) this.plots.show(this.time);
  }

  private followFigure() {
    const chosen = this.kinematics[Math.max(0, this.selection?.figure ?? 0)];
    if (!chosen) return;
    const at = chosen.centerOfMass(new Vector3());
    // Follows horizontal motion at once, vertical motion only beyond the slack: walking must not shake the picture.
    const up = at.z - this.followed.z;
    at.z -= Math.sign(up) * Math.min(Math.abs(up), FOLLOW_SLACK * this.stage.distance);
    if (this.follow) this.stage.follow(at.clone().sub(this.followed));
    this.followed = at;
  }

  private resize() {
    const box = this.stage.canvas.parentElement!.getBoundingClientRect();
    this.stage.resize(Math.max(1, box.width), Math.max(1, box.height));
    this.stage.render();
    this.plots?.draw();
    this.marks?.draw();
  }

  /** Around the bodies, or the frames of links without shapes. */
  box(out = new Box3()): Box3 {
    this.bodies.box(out);
    if (!out.isEmpty()) return out;
    for (const k of this.kinematics) for (const pose of k.poses) out.expandByPoint(new Vector3().setFromMatrixPosition(pose));
    return out.isEmpty() ? out : out.expandByScalar(FRAME_LENGTH);
  }

  setLook(look: Look) {
    this.look = look;
    document.documentElement.dataset["look"] = look;
    this.stage.setLook(look);
    this.plots.draw();
    this.dirty = true;
  }

  switchLook() {
    this.setLook(this.look === "dark" ? "light" : "dark");
    storeLook(this.look);
  }

  async setStyle(style: BodyStyle) {
    this.style = style;
    const built = this.bodies.build(style);
    this.move();
    await built;
    this.bodies.select(this.selection);
    this.move();
  }

  setGround(shown: boolean) {
    this.stage.ground = this.bodies.shadows = shown;
    this.dirty = true;
  }

  lookFrom(preset: Preset) {
    this.handled = true;
    this.stage.look(this.whole ?? this.bodies.box(), preset);
    this.dirty = true;
  }

  /** Fits the selection, or everything, into view. */
  fit() {
    this.handled = true;
    const box = this.selection ? this.bodies.boxOf(this.selection) : this.bodies.box();
    this.stage.fit(box);
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

  plot(name: string) {
    this.controls?.setPanel("plots", true);
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

  /** A warning that explains the simple shapes; it stays until it is closed. */
  private warnOfMissing(files: string[]) {
    const names = files.slice(0, 3).join(", ") + (files.length > 3 ? `, … (${files.length} in all)` : "");
    showWarning(files.length === 1 ? "A mesh file is missing." : `${files.length} mesh files are missing.`,
      `${names}. Collision shapes or capsules along the bones are shown instead.`, "The folder with the packages is named by --package-path DIR, in Python by package_path=.");
  }

  // -------------------------------------------------------------------------------------------------- pointer and live

  /** The body under the pointer, and the point hit. */
  pick(event: MouseEvent): { body: BodyRef; point: Vector3 } | undefined {
    const found = this.bodies.pick(this.stage.ray(event.clientX, event.clientY));
    return found && { body: found.body, point: found.hit.point };
  }

  private connectPointer() {
    const canvas = this.stage.canvas;
    let down: { x: number; y: number } | undefined;
    canvas.addEventListener("wheel", () => (this.handled = true), { passive: true });
    canvas.addEventListener("pointerdown", (event) => {
      this.handled = true;
      down = { x: event.clientX, y: event.clientY };
      if (event.button === 0) this.hands?.drag(event);
    });
    canvas.addEventListener("pointerup", (event) => {
      const moved = !down || Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4;
      down = undefined;
      if (!moved && event.button === 0) this.select(this.pick(event)?.body);
    });
    canvas.addEventListener("dblclick", (event) => {
      const found = this.pick(event);
      if (!found) return;
      if (this.hands) return this.hands.toggle(found.body, found.point);
      this.stage.controls.target.copy(found.point);
      this.dirty = true;
    });
  }

  private startLive(live: Live) {
    this.setPlaying(live.playing);
    live.onState = () => {
      this.setPlaying(live.playing);
      this.hands?.showRecording();
    };
    live.onProblem = (message) => this.notice(message);
    live.onClose = (reason) => {
      this.setPlaying(false);
      this.notice(reason || "The simulation has ended.");
    };
    live.onFrame = (frame) => {
      this.past.add(frame);
      this.plots.push(frame, LIVE_SECONDS);
      this.news = frame;
    };
  }

  private showLive(frame: Frame) {
    this.news = undefined;
    this.time = frame.time;
    this.frame = frame;
    this.apply(frame);
    this.hands?.showPull(frame);
    this.move();
    this.keepInView();
  }

  /** Brings bodies that have left the view back into it, unless the camera was moved by hand. */
  private keepInView() {
    const now = performance.now();
    if (this.handled || this.follow || now - this.looked < LOOK_AGAIN) return;
    this.looked = now;
    const box = this.bodies.box();
    const middle = box.getCenter(new Vector3()).project(this.stage.camera);
    if (box.isEmpty() || Math.max(Math.abs(middle.x), Math.abs(middle.y)) < OUT_OF_VIEW) return;
    this.whole = undefined;
    this.stage.look(box, "angle");
    this.dirty = true;
  }

  /** Steps backwards and forwards through past frames, and further by the simulation. */
  private stepLive(live: Live, count: 1 | -1) {
    if (live.playing) live.send({ type: "pause" });
    const frame = this.past.beside(this.time, count);
    if (frame) this.showLive(frame);
    else if (count > 0) live.send({ type: "step" });
  }
}

function neutral(nq: number, free: boolean): Float64Array {
  const q = new Float64Array(nq);
  if (free) q[6] = 1;
  return q;
}

