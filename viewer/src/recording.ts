import { ViewerError, type ByteSource } from "./bytes";
import { decodeFrame, type Frame } from "./frame";
import { McapFile, type ChunkInfo } from "./mcap";
import { parseScene, type Scene } from "./scene";

/** A recording: a scene, a time span, and frames that are loaded on demand. */

export const FRAME_TOPIC = "/kansetsu/frame";
const KEPT_CHUNKS = 24;

export class Recording {
  readonly scene: Scene;
  readonly chunks: ChunkInfo[];
  readonly start: number;
  readonly end: number;
  readonly complete: boolean;
  private readonly loaded = new Map<ChunkInfo, Frame[]>(); // oldest use first
  private readonly loading = new Map<ChunkInfo, Promise<Frame[]>>();

  private constructor(private readonly file: McapFile, scene: Scene, private readonly channel: number, readonly name: string) {
    this.scene = scene;
    this.complete = file.complete;
    this.chunks = file.chunks.filter((c) => !c.channels || c.channels.has(channel)).sort((a, b) => a.start - b.start || a.offset - b.offset);
    this.start = this.chunks[0]?.start ?? 0;
    this.end = this.chunks.reduce((end, c) => Math.max(end, c.end), this.start);
  }

  static async open(source: ByteSource): Promise<Recording> {
    const file = await McapFile.open(source);
    const kind = file.metadata.get("kansetsu");
    if (!kind) {
      const by = file.library ? `, written by '${file.library}'` : "";
      throw new ViewerError(`This is an MCAP file${by}, but not a Kansetsu recording.`, "Open a file that 'kansetsu simulate --record' wrote.", "REC003");
    }
    if (kind["format"] !== "1") {
      throw new ViewerError("The recording was written by a newer version of kansetsu.", "Update kansetsu to open it.", "REC004");
    }
    const text = await file.attachment("scene.json");
    if (!text) throw new ViewerError("The recording is truncated before its description.", "It was interrupted at the start, or only partly copied.", "REC006");
    const scene = parseScene(new TextDecoder().decode(text));
    const channel = [...file.channels.values()].find((c) => c.topic === FRAME_TOPIC);
    return new Recording(file, scene, channel?.id ?? -1, source.name);
  }

  attachment(name: string) {
    return this.file.attachment(name);
  }

  /** The last chunk that begins at or before the time; the first if there is none. */
  private chunkAt(time: number): ChunkInfo | undefined {
    let low = 0, high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.chunks[middle]!.start <= time + 1e-9) low = middle; // rounded to nanoseconds
      else high = middle - 1;
    }
    return this.chunks[low];
  }

  private load(chunk: ChunkInfo): Promise<Frame[]> {
    const known = this.loaded.get(chunk);
    if (known) {
      this.loaded.delete(chunk);
      this.loaded.set(chunk, known);
      return Promise.resolve(known);
    }
    let promise = this.loading.get(chunk);
    if (!promise) {
      promise = this.read(chunk).finally(() => this.loading.delete(chunk));
      this.loading.set(chunk, promise);
    }
    return promise;
  }

  private async read(chunk: ChunkInfo): Promise<Frame[]> {
    const messages = await this.file.messages(chunk);
    const frames = messages.filter((m) => m.channel === this.channel).map((m) => decodeFrame(m.data));
    const fits = frames.filter((f) => f.figures.length === this.scene.figures.length && f.figures.every((s, i) => s.q.length === this.scene.figures[i]!.nq));
    this.loaded.set(chunk, fits);
    for (const old of this.loaded.keys()) {
      if (this.loaded.size <= KEPT_CHUNKS) break;
      this.loaded.delete(old);
    }
    return fits;
  }

  /** The frame at or before the time and the one after it, if they are loaded; otherwise loading starts. */
  peek(time: number): [Frame, Frame | undefined] | undefined {
    const chunk = this.chunkAt(time);
    if (!chunk) return undefined;
    const frames = this.loaded.get(chunk);
    const next = this.chunks[this.chunks.indexOf(chunk) + 1];
    if (next) void this.load(next).catch(() => undefined); // read ahead
    if (!frames || frames.length === 0) {
      void this.load(chunk).catch(() => undefined);
      return undefined;
    }
    const i = indexAt(frames, time);
    return [frames[i]!, frames[i + 1] ?? (next ? this.loaded.get(next)?.[0] : undefined)];
  }

  async frameAt(time: number): Promise<Frame | undefined> {
    const chunk = this.chunkAt(time);
    if (!chunk) return undefined;
    const frames = await this.load(chunk);
    return frames[indexAt(frames, time)];
  }

  /** The time of the frame `count` frames after (before) the one shown at `time`. */
  async step(time: number, count: 1 | -1): Promise<number> {
    const chunk = this.chunkAt(time);
    if (!chunk) return time;
    const frames = await this.load(chunk);
    const i = indexAt(frames, time) + count;
    if (frames[i]) return frames[i]!.time;
    const neighbour = this.chunks[this.chunks.indexOf(chunk) + count];
    if (!neighbour) return time;
    const others = await this.load(neighbour);
    return (count > 0 ? others[0] : others[others.length - 1])?.time ?? time;
  }

  /** Every frame, chunk by chunk; does not change the cache for playing. */
  async scan(visit: (frames: Frame[], share: number) => boolean | void) {
    for (const [i, chunk] of this.chunks.entries()) {
      const kept = this.loaded.get(chunk);
      const frames = kept ?? (await this.file.messages(chunk)).filter((m) => m.channel === this.channel).map((m) => decodeFrame(m.data));
      if (visit(frames, (i + 1) / this.chunks.length) === false) return;
      if (i % 8 === 7) await new Promise((done) => setTimeout(done)); // let the page breathe
    }
  }
}

/** The last frame at or before the time, within half a nanosecond: times of the index are rounded to nanoseconds. */
function indexAt(frames: Frame[], time: number): number {
  let low = 0, high = frames.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (frames[middle]!.time <= time + 1e-9) low = middle;
    else high = middle - 1;
  }
  return Math.max(low, 0);
}
