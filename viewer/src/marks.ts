import { byId } from "./dom";
import type { Recording } from "./recording";
import { CONTACT } from "./theme";

const LONGEST = 400; // chunks that are scanned; longer recordings are left alone

/** Events as marks above the time line. */
export class Marks {
  private events: { time: number; text: string }[] = [];

  constructor(private readonly recording: Recording) {}

  /** Finds them, once the page has nothing better to do. */
  async scan() {
    if (this.recording.chunks.length > LONGEST) return;
    await new Promise((done) => setTimeout(done, 600));
    const found: typeof this.events = [];
    await this.recording.scan((frames) => {
      for (const frame of frames) for (const text of frame.events) found.push({ time: frame.time, text });
    }).catch(() => undefined); // what is wrong with the file has been told
    this.events = found;
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
    g.fillStyle = `#${CONTACT.getHexString()}`;
    for (const e of this.events) g.fillRect(8 + ((e.time - start) / Math.max(end - start, 1e-9)) * (width - 16) - 1, 3, 2, 7);
  }
}
