import type { LiveFrame } from "./live_frame";

const FRAME = 400; // [bytes] of a frame beside its numbers
const sizeOf = (frame: LiveFrame) => FRAME + frame.values.byteLength;

/** What a running simulation has shown so far, as far as it is kept: to look back, and to go on from there. */
export class Past {
  private frames: LiveFrame[] = [];
  private bytes = 0;

  constructor(private readonly seconds: number, private readonly most = 64e6) {} // bytes of numbers

  get start() {
    return this.frames[0]?.time ?? 0;
  }
  get end() {
    return this.frames[this.frames.length - 1]?.time ?? 0;
  }

  /** A frame from before the last one means that the simulation began again, or was taken back. */
  add(frame: LiveFrame) {
    while (this.frames.length > 0 && frame.time <= this.end) this.bytes -= sizeOf(this.frames.pop()!);
    this.frames.push(frame);
    this.bytes += sizeOf(frame);
    let old = 0, bytes = this.bytes;
    while (old < this.frames.length - 1 && (this.frames[old]!.time < frame.time - this.seconds || bytes > this.most)) bytes -= sizeOf(this.frames[old++]!);
    if (old <= 64 && this.bytes <= 1.1 * this.most) return; // not one by one
    this.frames.splice(0, old);
    this.bytes = bytes;
  }

  /** All that is kept, for a plot that begins. */
  scan(visit: (frames: LiveFrame[], share: number) => void) {
    visit(this.frames, 1);
  }

  /** The last frame at or before the time, else the first. */
  at(time: number): LiveFrame | undefined {
    let found = this.frames[0];
    for (const frame of this.frames) {
      if (frame.time > time + 1e-9) break;
      found = frame;
    }
    return found;
  }

  /** The frame beside the one at the time. */
  beside(time: number, count: 1 | -1): LiveFrame | undefined {
    const here = this.at(time);
    const i = here ? this.frames.indexOf(here) : -1;
    return this.frames[i + count];
  }
}
