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
});
