import { byId } from "./dom";
import { Landings, type Mark } from "./landings";
import type { Recording } from "./recording";
import { COM, CONNECTION, CONTACT } from "./theme";

const LONGEST = 400; // chunks that are scanned; longer recordings have no marks

/** From a flat end to a tip. */
function triangle(g: CanvasRenderingContext2D, x: number, from: number, to: number) {
  g.moveTo(x - 4, from);
  g.lineTo(x + 4, from);
  g.lineTo(x, to);
}

/** Events as marks above the time line: touchdown points down, lift-off up. For recordings without events they follow from the contacts. */
export class Marks {
  private events: Mark[] = [];

  constructor(private readonly recording: Recording) {}

  /** Scans for them when the page is idle. */
  async scan() {
    if (this.recording.chunks.length > LONGEST) return;
    await new Promise((done) => setTimeout(done, 600));
    const found: Mark[] = [];
    const { figures } = this.recording.scene;
    const landings = new Landings((body) => figures[body.figure]?.links[body.link]?.name ?? "");
    await this.recording.scan((frames) => {
      for (const frame of frames) {
        for (const text of frame.events) found.push({ time: frame.time, text });
        landings.add(frame);
      }
    }).catch(() => undefined); // problems of the file have been reported
    if (!found.some((e) => /^(touch|lift) /.test(e.text))) found.push(...landings.finish());
    this.events = found.sort((a, b) => a.time - b.time);
    byId<HTMLInputElement>("time").title = found.slice(0, 12).map((e) => `${e.time.toFixed(2)} s ${e.text}`).join("\n");
    this.draw();
  }

  draw() {
    const canvas = byId<HTMLCanvasElement>("marks");
    const { start, end } = this.recording;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    const g = canvas.getContext("2d")!;
    g.scale(devicePixelRatio, devicePixelRatio);
    for (const e of this.events) {
      const x = 8 + ((e.time - start) / Math.max(end - start, 1e-9)) * (width - 16);
      const kind = e.text.split(" ")[0];
      g.fillStyle = `#${(kind === "touch" ? CONTACT : kind === "lift" ? COM : CONNECTION).getHexString()}`;
      g.beginPath();
      if (kind === "touch") triangle(g, x, 2, 10); // lands
      else if (kind === "lift") triangle(g, x, 10, 2); // leaves
      else g.rect(x - 1, 3, 2, 7);
      g.fill();
    }
  }
}
