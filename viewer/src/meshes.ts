import { BufferGeometry, Mesh } from "three";
import { ColladaLoader } from "three/examples/jsm/loaders/ColladaLoader.js";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { STLLoader } from "three/examples/jsm/loaders/STLLoader.js";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Object3D } from "three";
import type { MeshLoader } from "./bodies";

/** Mesh files that travel in the recording: STL, OBJ, DAE and glTF. */

function geometryOf(root: Object3D): BufferGeometry | undefined {
  root.updateMatrixWorld(true);
  const parts: BufferGeometry[] = [];
  root.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    const geometry = (object.geometry as BufferGeometry).clone().toNonIndexed().applyMatrix4(object.matrixWorld);
    for (const name of Object.keys(geometry.attributes)) if (name !== "position" && name !== "normal") geometry.deleteAttribute(name);
    if (!geometry.attributes["normal"]) geometry.computeVertexNormals();
    parts.push(geometry);
  });
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

/** Loads each file once. What cannot be understood is left out; `complain` hears of it. */
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
