import type { LiveFrame } from "./live_frame";

const FRAME = 400; // [bytes] of a frame in addition to its numbers
const sizeOf = (frame: LiveFrame) => FRAME + frame.values.byteLength;

/** The past frames of a running simulation, for rewinding. */
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

  /** A frame earlier than the last one means that the simulation was reset or rewound. */
  add(frame: LiveFrame) {
    while (this.frames.length > 0 && frame.time <= this.end) this.bytes -= sizeOf(this.frames.pop()!);
    this.frames.push(frame);
    this.bytes += sizeOf(frame);
    let old = 0, bytes = this.bytes;
    while (old < this.frames.length - 1 && (this.frames[old]!.time < frame.time - this.seconds || bytes > this.most)) bytes -= sizeOf(this.frames[old++]!);
    if (old <= 64 && this.bytes <= 1.1 * this.most) return; // in batches
    this.frames.splice(0, old);
    this.bytes = bytes;
  }

  /** All past frames, for a new plot. */
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

  /** The neighbour of the frame at the time. */
  beside(time: number, count: 1 | -1): LiveFrame | undefined {
    const here = this.at(time);
    const i = here ? this.frames.indexOf(here) : -1;
    return this.frames[i + count];
  }
}
