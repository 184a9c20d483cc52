import { Box3, Vector3 } from "three";
import { App } from "./app";
import type { Recording } from "./recording";
import { isShapeless } from "./scene";
import { Stage, type Preset } from "./stage";

/** Pictures, strips and videos: the page renders them and sends them to the server. */
export interface PictureOrder {
  width: number;
  height: number;
  count: number; // pictures side by side
  from: number; // [s]; NaN: the beginning
  to: number; // NaN: the end
  camera: Preset;
  look: "dark" | "light";
  show: string[]; // overlays
  style: "shapes" | "bones";
  video: number; // pictures per second of a film; 0: one picture
}

export function orderOf(query: URLSearchParams): PictureOrder | undefined {
  if (!query.has("picture")) return undefined;
  const number = (name: string, usual: number) => (query.has(name) ? Number(query.get(name)) : usual);
  return {
    width: number("width", 1280), height: number("height", 720), count: Math.max(1, number("count", 1)), from: number("from", NaN), to: number("to", NaN),
    camera: (query.get("camera") ?? "angle") as Preset, look: query.get("look") === "dark" ? "dark" : "light",
    show: (query.get("show") ?? "contacts").split(",").filter(Boolean), style: query.get("style") === "bones" ? "bones" : "shapes",
    video: number("video", 0),
  };
}

/** An app without its page, set up as ordered. */
async function stageFor(recording: Recording, canvas: HTMLCanvasElement, order: PictureOrder): Promise<{ stage: Stage; app: App; start: number; end: number }> {
  const stage = new Stage(canvas, "high");
  const app = new App(recording, undefined, stage);
  for (const name of Object.keys(app.overlays.shown)) app.overlays.shown[name as keyof typeof app.overlays.shown] = order.show.includes(name);
  if (isShapeless(app.scene)) app.overlays.shown.frames = true;
  app.setLook(order.look);
  await app.setStyle(order.style);
  await app.stillAt(recording.start);
  app.placeGround();
  return { stage, app, start: Number.isNaN(order.from) ? recording.start : order.from, end: Number.isNaN(order.to) ? recording.end : order.to };
}

/** Synchronous: toBlob waits until the page is idle, up to a second per picture in a hidden page. */
function png(canvas: HTMLCanvasElement): Blob {
  const bytes = atob(canvas.toDataURL("image/png").split(",")[1] ?? "");
  if (bytes === "") throw new Error("the picture is empty");
  return new Blob([Uint8Array.from(bytes, (c) => c.charCodeAt(0))], { type: "image/png" });
}

const CALM = 1.0; // [s] over which the camera's path is averaged

/** The pictures of a video, passed to `send` one after the other. The camera follows smoothly over the ground. */
export async function makeFilm(recording: Recording, canvas: HTMLCanvasElement, order: PictureOrder, send: (picture: Blob) => Promise<unknown>) {
  const { stage, app, start, end } = await stageFor(recording, canvas, order);
  const count = Math.max(1, Math.floor((end - start) * order.video + 1e-6) + 1);
  const times = Array.from({ length: count }, (_, i) => start + i / order.video);
  const boxes: Box3[] = [];
  for (const time of times) {
    await app.stillAt(time);
    boxes.push(app.box(new Box3()));
  }
  const size = new Vector3();
  for (const box of boxes) size.max(box.getSize(new Vector3()));
  const low = Math.min(...boxes.map((b) => b.min.z)), high = Math.max(...boxes.map((b) => b.max.z));
  const half = Math.round((CALM * order.video) / 2);
  stage.resize(order.width, order.height, 1);
  for (const [i, time] of times.entries()) {
    await app.stillAt(time);
    const near = boxes.slice(Math.max(0, i - half), i + half + 1);
    const center = near.reduce((sum, b) => sum.add(b.getCenter(new Vector3())), new Vector3()).divideScalar(near.length).setZ((low + high) / 2);
    stage.look(new Box3().setFromCenterAndSize(center, size.clone().setZ(high - low)), order.camera, 1.06);
    stage.render();
    await send(png(canvas));
  }
}

export async function makePicture(recording: Recording, canvas: HTMLCanvasElement, order: PictureOrder): Promise<Blob> {
  const { stage, app, start, end } = await stageFor(recording, canvas, order);
  const times = Array.from({ length: order.count }, (_, i) => (order.count === 1 ? start : start + ((end - start) * i) / (order.count - 1)));
  // One distance for all pictures, for the largest extent. The camera follows the figures horizontally only.
  const boxes: Box3[] = [];
  for (const time of times) {
    await app.stillAt(time);
    boxes.push(app.box(new Box3()));
  }
  const size = new Vector3();
  let low = Infinity, high = -Infinity;
  for (const box of boxes) {
    size.max(box.getSize(new Vector3()));
    low = Math.min(low, box.min.z);
    high = Math.max(high, box.max.z);
  }
  const width = Math.round(order.width / order.count);
  stage.resize(width, order.height, 1);
  const strip = document.createElement("canvas");
  strip.width = width * order.count;
  strip.height = order.height;
  const g = strip.getContext("2d")!;
  for (const [i, time] of times.entries()) {
    await app.stillAt(time);
    const center = boxes[i]!.getCenter(new Vector3()).setZ((low + high) / 2);
    stage.look(new Box3().setFromCenterAndSize(center, size.clone().setZ(high - low)), order.camera, 1.06);
    stage.render();
    g.drawImage(canvas, 0, 0, canvas.width, canvas.height, i * width, 0, width, order.height);
    if (order.count > 1) {
      g.font = `${Math.max(12, Math.round(order.height / 30))}px system-ui, sans-serif`;
      g.fillStyle = order.look === "dark" ? "#c6d2de" : "#3b4a59";
      g.textAlign = "center";
      g.fillText(`${time.toFixed(2)} s`, (i + 0.5) * width, order.height - order.height / 28);
    }
  }
  return png(strip);
}

