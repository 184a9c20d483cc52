import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
// @ts-expect-error: the package has no types
import validator from "gltf-validator";

const file = `${process.env["KANSETSU_RECORDINGS"] ?? "../build/recordings"}/squat.glb`;

describe.skipIf(!existsSync(file))("glTF", () => {
  it("passes the validator of Khronos, with nodes and keys as recorded", async () => {
    const bytes = new Uint8Array(readFileSync(file));
    const report = await validator.validateBytes(bytes);
    expect(report.issues.messages).toEqual([]);
    const length = new DataView(bytes.buffer).getUint32(12, true);
    const json = JSON.parse(new TextDecoder().decode(bytes.subarray(20, 20 + length)));
    const names = json.nodes.map((n: { name?: string }) => n.name);
    for (const name of ["world", "human", "Body", "LowerLegL", "floor"]) expect(names).toContain(name);
    const knee = json.nodes.findIndex((n: { name?: string }) => n.name === "LowerLegL");
    const channels = json.animations[0].channels.filter((c: { target: { node: number } }) => c.target.node === knee);
    expect(channels.map((c: { target: { path: string } }) => c.target.path)).toEqual(["rotation"]); // a hinge: it only turns
    const sampler = json.animations[0].samplers[channels[0].sampler];
    expect(json.accessors[sampler.input].count).toBe(241);
    expect(json.accessors[sampler.input].max[0]).toBeCloseTo(4, 6);
  });

  it("has no triangles without an area, which others read as lines", () => {
    const bytes = readFileSync(file);
    const length = bytes.readUInt32LE(12);
    const json = JSON.parse(bytes.toString("utf8", 20, 20 + length));
    const data = (index: number, width: number) => {
      const accessor = json.accessors[index], at = 28 + length + json.bufferViews[accessor.bufferView].byteOffset;
      return { count: accessor.count * width, float: (i: number) => bytes.readFloatLE(at + 4 * i), int: (i: number) => bytes.readUInt32LE(at + 4 * i), type: accessor.componentType };
    };
    for (const { primitives } of json.meshes) {
      const position = data(primitives[0].attributes.POSITION, 3), index = data(primitives[0].indices, 1);
      expect(index.type).toBe(5125); // 32 bits
      for (let t = 0; t < index.count; t += 3) {
        const [a, b, c] = [0, 1, 2].map((k) => [0, 1, 2].map((i) => position.float(3 * index.int(t + k) + i)));
        const u = b!.map((x, i) => x - a![i]!), v = c!.map((x, i) => x - a![i]!);
        const n = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
        expect(Math.hypot(...n)).toBeGreaterThan(1e-9);
      }
    }
  });
});
