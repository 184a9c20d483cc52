import type { Frame } from "./frame";

/** What a running simulation has shown so far, as far as it is kept: to look back, and to go on from there. */
export class Past {
  private frames: Frame[] = [];

  constructor(private readonly seconds: number, private readonly most = 4096) {}

  get start() {
    return this.frames[0]?.time ?? 0;
  }
  get end() {
    return this.frames[this.frames.length - 1]?.time ?? 0;
  }

  /** A frame from before the last one means that the simulation began again, or was taken back. */
  add(frame: Frame) {
    while (this.frames.length > 0 && frame.time <= this.end) this.frames.pop();
    this.frames.push(frame);
    let old = 0;
    while (this.frames[old]!.time < frame.time - this.seconds) ++old;
    old = Math.max(old, this.frames.length - this.most);
    if (old > 64) this.frames.splice(0, old); // not one by one
  }

  /** The last frame at or before the time, else the first. */
  at(time: number): Frame | undefined {
    let found = this.frames[0];
    for (const frame of this.frames) {
      if (frame.time > time + 1e-9) break;
      found = frame;
    }
    return found;
  }

  /** The frame beside the one at the time. */
  beside(time: number, count: 1 | -1): Frame | undefined {
    const here = this.at(time);
    const i = here ? this.frames.indexOf(here) : -1;
    return this.frames[i + count];
  }
}
