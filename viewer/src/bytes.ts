/** Where bytes of a file come from: a server that answers range requests, or memory. */
export interface ByteSource {
  readonly name: string;
  size(): Promise<number>;
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** An error for users: the problem, its meaning, and what to do about it. */
export class ViewerError extends Error {
  constructor(message: string, readonly hint = "", readonly code = "") {
    super(message);
  }
}

export class BufferSource implements ByteSource {
  constructor(private readonly bytes: Uint8Array, readonly name: string) {}
  async size() {
    return this.bytes.length;
  }
  async read(offset: number, length: number) {
    if (offset < 0 || length < 0 || offset + length > this.bytes.length) {
      throw new ViewerError("The file is truncated.", "It is damaged, or only partly copied.", "REC011");
    }
    return this.bytes.subarray(offset, offset + length);
  }
}

/** Reads pieces by HTTP range requests; the first answer tells the size. */
export class HttpSource implements ByteSource {
  private known: Promise<number> | undefined;
  constructor(private readonly url: string, readonly name: string) {}

  size() {
    this.known ??= (async () => {
      const answer = await fetch(this.url, { method: "HEAD" });
      if (!answer.ok) throw new ViewerError(`The server refused the recording (${answer.status}).`, "Start 'kansetsu view' again.");
      return Number(answer.headers.get("content-length"));
    })();
    return this.known;
  }

  async read(offset: number, length: number) {
    if (length === 0) return new Uint8Array(0);
    const answer = await fetch(this.url, { headers: { range: `bytes=${offset}-${offset + length - 1}` } });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (answer.status !== 206 || bytes.length !== length) {
      throw new ViewerError("A part of the recording could not be loaded.", "Is 'kansetsu view' still running?");
    }
    return bytes;
  }
}

/** Reads little-endian values from the front; reading beyond the end throws. */
export class ByteReader {
  private readonly view: DataView;
  at = 0;
  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  get left() {
    return this.bytes.length - this.at;
  }
  private step(size: number) {
    if (size > this.left) throw new ViewerError("A record of the file is damaged.", "", "REC011");
    const at = this.at;
    this.at += size;
    return at;
  }
  u8() {
    return this.view.getUint8(this.step(1));
  }
  u16() {
    return this.view.getUint16(this.step(2), true);
  }
  u32() {
    return this.view.getUint32(this.step(4), true);
  }
  /** Sizes and offsets: exact up to 2⁵³. */
  u64() {
    const at = this.step(8);
    return this.view.getUint32(at + 4, true) * 4294967296 + this.view.getUint32(at, true);
  }
  f64() {
    return this.view.getFloat64(this.step(8), true);
  }
  raw(length: number) {
    const at = this.step(length);
    return this.bytes.subarray(at, at + length);
  }
  text() {
    return new TextDecoder().decode(this.raw(this.u32()));
  }
  map() {
    const values: Record<string, string> = {};
    const inner = new ByteReader(this.raw(this.u32()));
    while (inner.left > 0) {
      const key = inner.text();
      values[key] = inner.text();
    }
    return values;
  }
}
