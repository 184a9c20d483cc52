import { McapIndexedReader } from "@mcap/core";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decompress as decompressZstd } from "fzstd";
import { BufferSource, ViewerError, type ByteSource } from "../src/bytes";
import { decodeFrame } from "../src/frame";
import { Kinematics } from "../src/kinematics";
import { decompressLz4 } from "../src/lz4";
import { FRAME_TOPIC, Recording } from "../src/recording";

/** Files that make_recordings wrote; script/check says where. */
const folder = process.env["KANSETSU_RECORDINGS"] ?? "../build/recordings";
const bytes = (name: string) => new Uint8Array(readFileSync(`${folder}/${name}`));
const open = (name: string) => Recording.open(new BufferSource(bytes(name), name));

/** Counts what is read. */
class Counting implements ByteSource {
  read_bytes = 0;
  requests = 0;
  constructor(private readonly inner: BufferSource, readonly name = "counted") {}
  size() {
    return this.inner.size();
  }
  read(offset: number, length: number) {
    this.read_bytes += length;
    ++this.requests;
    return this.inner.read(offset, length);
  }
}

describe.skipIf(!existsSync(`${folder}/squat.mcap`))("recordings", () => {
  it("opens, and gives the frames of the times asked for", async () => {
    const recording = await open("squat.mcap");
    expect(recording.complete).toBe(true);
    expect(recording.start).toBe(0);
    expect(recording.end).toBeCloseTo(4, 9);
    expect(recording.scene.figures[0]!.nq).toBe(35);
    const frame = (await recording.frameAt(1))!;
    expect(frame.time).toBeCloseTo(1, 9);
    expect(frame.events).toContain("lowest");
    expect(frame.contacts).toHaveLength(8);
    expect((await recording.frameAt(1.0001))!.time).toBe(frame.time);
    const next = await recording.step(frame.time, 1);
    expect(next - frame.time).toBeCloseTo(1 / 60, 9);
    expect(await recording.step(next, -1)).toBe(frame.time);
    expect(await recording.step(recording.end, 1)).toBe(recording.end);
  });

  it("agrees with @mcap/core on every message", async () => {
    const file = bytes("squat.mcap");
    const reader = await McapIndexedReader.Initialize({
      readable: { size: async () => BigInt(file.length), read: async (o, l) => file.subarray(Number(o), Number(o + l)) },
      decompressHandlers: { lz4: (b, size) => decompressLz4(b, Number(size)), zstd: (b, size) => decompressZstd(b, new Uint8Array(Number(size))) },
    });
    const theirs: ReturnType<typeof decodeFrame>[] = [];
    for await (const message of reader.readMessages({ topics: [FRAME_TOPIC] })) theirs.push(decodeFrame(message.data));
    const ours: typeof theirs = [];
    await (await open("squat.mcap")).scan((frames) => void ours.push(...frames));
    expect(ours).toHaveLength(241);
    expect(ours).toEqual(theirs);
    const schemas = [...reader.schemasById.values()].map((s) => s.name);
    for (const name of ["kansetsu.Frame", "foxglove.FrameTransforms", "foxglove.SceneUpdate", "kansetsu.Number"]) expect(schemas).toContain(name);
  });

  it("carries the weight of the figure in its contact forces", async () => {
    const recording = await open("squat.mcap");
    let impulse = 0;
    await recording.scan((frames) => {
      for (const f of frames) impulse += f.contacts.reduce((sum, c) => sum + c.force[2]!, 0) / 60;
    });
    // Two whole periods: the mean vertical force is the weight, 69 kg · 9.81 m/s²; a frame too many at the end.
    expect(impulse / (241 / 60)).toBeGreaterThan(0.97 * 69 * 9.81);
    expect(impulse / (241 / 60)).toBeLessThan(1.03 * 69 * 9.81);
  });

  it("moves links as the engine does: soles stay on the ground while the figure squats", async () => {
    const recording = await open("squat.mcap");
    const kinematics = new Kinematics(recording.scene.figures[0]!);
    const foot = recording.scene.figures[0]!.links.findIndex((l) => l.name === "FootL");
    await recording.scan((frames) => {
      for (const frame of frames) {
        const poses = kinematics.update(frame.figures[0]!.q);
        for (const c of frame.contacts.filter((c) => c.a.link === foot)) expect(Math.abs(c.point[2]!)).toBeLessThan(1e-9);
        expect(poses[foot]!.elements[14]).toBeCloseTo(0.08, 9);
      }
    });
  });

  it("opens a long recording from its index, without loading it", async () => {
    if (!existsSync(`${folder}/long.mcap`)) return;
    const file = bytes("long.mcap");
    const source = new Counting(new BufferSource(file, "long"));
    const before = performance.now();
    const recording = await Recording.open(source);
    await recording.frameAt(0);
    const opened = performance.now() - before;
    expect(source.read_bytes).toBeLessThan(file.length / 50);
    const half = source.read_bytes;
    await recording.frameAt(recording.end / 2);
    expect(source.read_bytes - half).toBeLessThan(file.length / 100);
    console.log(`10 minutes, ${(file.length / 1e6).toFixed(0)} MB: opened in ${opened.toFixed(0)} ms with ${source.requests} reads`);
    expect(opened).toBeLessThan(2000);
  });

  it("reads what is whole of a file that ends anywhere", async () => {
    const file = bytes("squat.mcap");
    let last = 0;
    for (let length = file.length - 1; length > 100; length = Math.floor(length * 0.83)) {
      try {
        const recording = await Recording.open(new BufferSource(file.subarray(0, length), "cut"));
        expect(recording.complete).toBe(false);
        let count = 0;
        await recording.scan((frames) => void (count += frames.length));
        if (last > 0) expect(count).toBeLessThanOrEqual(last);
        last = count;
      } catch (error) {
        expect(error).toBeInstanceOf(ViewerError);
      }
    }
    expect(last).toBeLessThan(241);
  });

  it("survives damage: frames or a message, never anything else", async () => {
    const file = bytes("squat.mcap");
    let seed = 12345;
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
    for (let i = 0; i < 150; ++i) {
      const damaged = file.slice();
      for (let k = 0; k <= i % 6; ++k) damaged[random(damaged.length)] = random(256);
      try {
        const recording = await Recording.open(new BufferSource(damaged, "damaged"));
        await recording.frameAt(random(4000) / 1000);
      } catch (error) {
        const fine = error instanceof ViewerError || /zstd|invalid|unexpected|corrupt/i.test(String(error));
        expect(fine, String(error)).toBe(true);
      }
    }
  });

  it("tells foreign, empty and newer files apart", async () => {
    const code = async (data: Uint8Array) => Recording.open(new BufferSource(data, "x")).then(() => "", (e: ViewerError) => e.code);
    expect(await code(new Uint8Array(0))).toBe("REC002");
    expect(await code(new TextEncoder().encode("solid cube"))).toBe("REC002");
    expect(await code(bytes("squat.mcap").subarray(0, 60))).toBe("REC003");
  });
});

describe("lz4", () => {
  it("refuses damage", () => {
    expect(() => decompressLz4(new Uint8Array(20), 5)).toThrow(ViewerError);
    // Token that asks for a match before the beginning.
    const frame = [0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0, 4, 0, 0, 0, 0x10, 65, 9, 0, 0, 0, 0, 0];
    expect(() => decompressLz4(new Uint8Array(frame), 100)).toThrow(ViewerError);
  });
});
