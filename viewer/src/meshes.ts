import { BufferAttribute, BufferGeometry, Mesh, RepeatWrapping, SRGBColorSpace, Texture, type MeshLambertMaterial } from "three";
import { ColladaLoader } from "three/examples/jsm/loaders/ColladaLoader.js";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { STLLoader } from "three/examples/jsm/loaders/STLLoader.js";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Object3D } from "three";
import type { MeshLoader, TextureLoader } from "./bodies";

/** Mesh files in the recording: STL, OBJ, DAE and glTF. */

const KEPT = ["position", "normal", "uv"];

/** All parts as one geometry; materials of the file become vertex colours. */
function geometryOf(root: Object3D): BufferGeometry | undefined {
  root.updateMatrixWorld(true);
  const parts: BufferGeometry[] = [];
  let colored = false, mapped = true;
  root.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    const source = object.geometry as BufferGeometry;
    const geometry = (source.index ? source.toNonIndexed() : source.clone()).applyMatrix4(object.matrixWorld);
    if (!geometry.attributes["normal"]) geometry.computeVertexNormals();
    const materials = (Array.isArray(object.material) ? object.material : [object.material]) as MeshLambertMaterial[];
    const count = geometry.attributes["position"]!.count;
    const colors = new Float32Array(3 * count).fill(1);
    const groups = geometry.groups.length > 0 ? geometry.groups : [{ start: 0, count, materialIndex: 0 }];
    for (const group of groups) {
      const color = materials[group.materialIndex ?? 0]?.color;
      if (!color) continue;
      colored ||= Math.min(color.r, color.g, color.b) < 0.999;
      for (let i = group.start; i < Math.min(count, group.start + group.count); ++i) color.toArray(colors, 3 * i);
    }
    mapped &&= !!geometry.attributes["uv"];
    for (const name of Object.keys(geometry.attributes)) if (!KEPT.includes(name)) geometry.deleteAttribute(name);
    geometry.clearGroups();
    geometry.setAttribute("color", new BufferAttribute(colors, 3));
    parts.push(geometry);
  });
  for (const part of parts) {
    if (!mapped) part.deleteAttribute("uv");
    if (!colored) part.deleteAttribute("color");
  }
  return parts.length > 0 ? (mergeGeometries(parts) ?? undefined) : undefined;
}

async function parse(name: string, bytes: Uint8Array): Promise<BufferGeometry | undefined> {
  const buffer = bytes.slice().buffer;
  const text = () => new TextDecoder().decode(bytes);
  if (name.endsWith(".stl")) return new STLLoader().parse(buffer);
  if (name.endsWith(".obj")) return geometryOf(new OBJLoader().parse(text()));
  if (name.endsWith(".dae")) return geometryOf(new ColladaLoader().parse(text(), "").scene);
  if (name.endsWith(".glb") || name.endsWith(".gltf")) return geometryOf((await new GLTFLoader().parseAsync(buffer, "")).scene);
  return undefined;
}

/** Loads each texture once; unreadable ones are omitted. */
export function textureLoader(read: (name: string) => Promise<Uint8Array | undefined>, complain: (text: string) => void): TextureLoader {
  const known = new Map<string, Promise<Texture | undefined>>();
  const load = async (name: string) => {
    const bytes = await read(name);
    if (!bytes) return undefined;
    const texture = new Texture(await createImageBitmap(new Blob([bytes.slice()], { type: "image/png" }), { imageOrientation: "flipY" }));
    texture.flipY = false; // no effect for an ImageBitmap
    texture.colorSpace = SRGBColorSpace;
    texture.wrapS = texture.wrapT = RepeatWrapping;
    texture.needsUpdate = true;
    return texture;
  };
  return (name) => {
    let found = known.get(name);
    if (!found) {
      found = load(name).catch(() => {
        complain(`The texture ${name} cannot be read and is not shown.`);
        return undefined;
      });
      known.set(name, found);
    }
    return found;
  };
}

/** Loads each file once. Unreadable ones are omitted and reported by `complain`. */
export function meshLoader(read: (name: string) => Promise<Uint8Array | undefined>, complain: (text: string) => void): MeshLoader {
  const known = new Map<string, Promise<BufferGeometry | undefined>>();
  return (name) => {
    let found = known.get(name);
    if (!found) {
      found = read(name)
        .then((bytes) => bytes && parse(name, bytes))
        .catch(() => {
          complain(`The mesh ${name} cannot be read and is not shown.`);
          return undefined;
        });
      known.set(name, found);
    }
    return found;
  };
}
