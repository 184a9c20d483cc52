import { decompress as decompressZstd } from "fzstd";
import { ByteReader, ViewerError, type ByteSource } from "./bytes";
import { decompressLz4 } from "./lz4";

/** MCAP files (https://mcap.dev/spec), read by their index, or by scanning if a file is truncated. */

const MAGIC = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a];
const enum Op {
  Header = 1, Footer, Schema, Channel, Message, Chunk, MessageIndex, ChunkIndex, Attachment, AttachmentIndex,
  Statistics, Metadata, MetadataIndex, SummaryOffset, DataEnd,
}
const LARGEST_CHUNK = 2 ** 30;

export interface Channel {
  id: number;
  schema: number;
  topic: string;
  encoding: string;
  metadata: Record<string, string>;
}
/** Position of a chunk of messages in the file, and its time span [s]. */
export interface ChunkInfo {
  start: number;
  end: number;
  offset: number;
  length: number;
  channels: Set<number> | undefined; // unknown where the file has no index
}
export interface Message {
  channel: number;
  time: number;
  data: Uint8Array;
}

const seconds = (nanoseconds: number) => nanoseconds / 1e9;

function hasMagic(bytes: Uint8Array) {
  return MAGIC.every((b, i) => bytes[i] === b);
}

export class McapFile {
  readonly channels = new Map<number, Channel>();
  readonly schemas = new Map<number, string>();
  readonly chunks: ChunkInfo[] = [];
  readonly metadata = new Map<string, Record<string, string>>();
  library = "";
  complete = true;
  private readonly attachments = new Map<string, { offset: number; length: number }>();

  private constructor(private readonly source: ByteSource) {}

  static async open(source: ByteSource): Promise<McapFile> {
    const file = new McapFile(source);
    const size = await source.size();
    if (size === 0) throw new ViewerError("The file is empty.", "It was created, but nothing was written.", "REC002");
    const start = await source.read(0, Math.min(size, 8));
    if (!hasMagic(start)) {
      throw new ViewerError("Not an MCAP file.", "Open a recording that 'kansetsu simulate --record' wrote.", "REC002");
    }
    try {
      if (await file.readSummary(size)) return file;
    } catch (error) {
      if (!(error instanceof ViewerError)) throw error; // a damaged index: the data may still be intact
    }
    file.forget();
    await file.scan(size);
    return file;
  }

  attachmentNames() {
    return [...this.attachments.keys()];
  }

  async attachment(name: string): Promise<Uint8Array | undefined> {
    const where = this.attachments.get(name);
    if (!where) return undefined;
    const record = new ByteReader(await this.source.read(where.offset, where.length));
    record.at = 9 + 16;
    record.text();
    record.text();
    return record.raw(record.u64());
  }

  /** The messages of a chunk, in the order of the file. */
  async messages(chunk: ChunkInfo): Promise<Message[]> {
    const record = new ByteReader(await this.source.read(chunk.offset, chunk.length));
    if (record.u8() !== Op.Chunk) throw new ViewerError("The index of the file is damaged.", "", "REC011");
    record.u64();
    const records = new ByteReader(this.unpack(record));
    const found: Message[] = [];
    while (records.left >= 9) {
      const op = records.u8();
      const content = new ByteReader(records.raw(records.u64()));
      if (op === Op.Channel) this.addChannel(content);
      if (op !== Op.Message) continue;
      const channel = content.u16();
      content.u32();
      const time = seconds(content.u64());
      content.u64();
      found.push({ channel, time, data: content.raw(content.left) });
    }
    return found;
  }

  private unpack(chunk: ByteReader): Uint8Array {
    chunk.raw(16);
    const size = chunk.u64();
    chunk.u32();
    const compression = chunk.text();
    const packed = chunk.raw(chunk.u64());
    if (size > LARGEST_CHUNK) throw new ViewerError("A piece of the recording is damaged.", "", "REC011");
    if (compression === "lz4") return decompressLz4(packed, size);
    if (compression === "zstd") return decompressZstd(packed, new Uint8Array(size));
    if (compression === "") return packed;
    throw new ViewerError(`The recording is compressed by '${compression}', which the viewer does not support.`, "Supported are lz4 and zstd.");
  }

  private async readSummary(size: number): Promise<boolean> {
    const FOOTER = 9 + 20;
    if (size < 8 + FOOTER + 8) return false;
    const tail = await this.source.read(size - 8 - FOOTER, FOOTER + 8);
    if (!hasMagic(tail.subarray(FOOTER)) || tail[0] !== Op.Footer) return false;
    const footer = new ByteReader(tail);
    footer.at = 9;
    const start = footer.u64();
    if (start === 0 || start > size) return false;
    const summary = new ByteReader(await this.source.read(start, size - 8 - FOOTER - start));
    const metadata: { offset: number; length: number }[] = [];
    while (summary.left >= 9) {
      const op = summary.u8();
      const content = new ByteReader(summary.raw(summary.u64()));
      if (op === Op.Channel) this.addChannel(content);
      else if (op === Op.Schema) this.addSchema(content);
      else if (op === Op.ChunkIndex) this.addChunkIndex(content);
      else if (op === Op.AttachmentIndex) {
        const offset = content.u64(), length = content.u64();
        content.raw(24);
        this.attachments.set(content.text(), { offset, length });
      } else if (op === Op.MetadataIndex) metadata.push({ offset: content.u64(), length: content.u64() });
    }
    for (const where of metadata) {
      const record = new ByteReader(await this.source.read(where.offset, where.length));
      record.at = 9;
      this.metadata.set(record.text(), record.map());
    }
    const head = new ByteReader(await this.source.read(8, 9));
    head.u8();
    const header = new ByteReader(await this.source.read(17, Math.min(head.u64(), 4096)));
    header.text();
    this.library = header.text();
    return true;
  }

  private forget() {
    this.channels.clear();
    this.schemas.clear();
    this.chunks.length = 0;
    this.metadata.clear();
    this.attachments.clear();
  }

  /** Reads record by record, up to the last complete one. */
  private async scan(size: number) {
    this.complete = false;
    let at = 8;
    while (at + 9 <= size) {
      const head = new ByteReader(await this.source.read(at, Math.min(size - at, 9 + 16)));
      const op = head.u8();
      const length = head.u64();
      if (at + 9 + length > size) break;
      if (op === Op.Chunk && head.left >= 16) {
        this.chunks.push({ start: seconds(head.u64()), end: seconds(head.u64()), offset: at, length: 9 + length, channels: undefined });
      } else if (op === Op.Header || op === Op.Schema || op === Op.Channel || op === Op.Metadata || op === Op.Attachment) {
        const content = new ByteReader(await this.source.read(at + 9, length));
        if (op === Op.Channel) this.addChannel(content);
        else if (op === Op.Schema) this.addSchema(content);
        else if (op === Op.Metadata) this.metadata.set(content.text(), content.map());
        else if (op === Op.Attachment) {
          content.raw(16);
          this.attachments.set(content.text(), { offset: at, length: 9 + length });
        } else {
          content.text();
          this.library = content.text();
        }
      } else if (op === Op.DataEnd) break;
      at += 9 + length;
    }
  }

  private addSchema(content: ByteReader) {
    const id = content.u16();
    this.schemas.set(id, content.text());
  }

  private addChannel(content: ByteReader) {
    const id = content.u16();
    const schema = content.u16();
    this.channels.set(id, { id, schema, topic: content.text(), encoding: content.text(), metadata: content.map() });
  }

  private addChunkIndex(content: ByteReader) {
    const start = seconds(content.u64()), end = seconds(content.u64()), offset = content.u64(), length = content.u64();
    const indexes: { channel: number; at: number }[] = [];
    const offsets = new ByteReader(content.raw(content.u32()));
    while (offsets.left > 0) indexes.push({ channel: offsets.u16(), at: offsets.u64() });
    // An index without entries is 15 bytes long: the chunk has no message of that channel.
    const last = offset + length + content.u64();
    indexes.sort((a, b) => a.at - b.at);
    const filled = indexes.filter(({ at }, i) => (indexes[i + 1]?.at ?? last) - at > 15);
    this.chunks.push({ start, end, offset, length, channels: new Set(filled.map((i) => i.channel)) });
  }
}
