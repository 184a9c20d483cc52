import { BufferAttribute, BufferGeometry, Vector3 } from "three";

/** Coarser meshes for moving bodies in software rendering. */

const GROW = 1.3; // factor of the cell size, until few enough triangles remain
const WIDEST = 12; // the largest cells are this fraction of the mesh

/** At most about `most` triangles with nearly the same outline: vertices within a cell of a grid are replaced by their mean, and triangles
 * without area removed (Rossignac and Borrel 1993). Vertices with different normals or texture coordinates stay apart: edges stay sharp. */
export function simplified(geometry: BufferGeometry, most: number): BufferGeometry {
  if (triangles(geometry) <= most) return geometry;
  geometry.computeBoundingBox();
  const size = geometry.boundingBox!.getSize(new Vector3());
  const widest = Math.max(size.x, size.y, size.z) / WIDEST;
  let cell = Math.min(widest, Math.sqrt((2 * area(geometry)) / most)); // a cell of a surface has two triangles
  let found = clustered(geometry, cell);
  while (triangles(found) > most && cell < widest) found = clustered(geometry, (cell *= GROW));
  return found;
}

export function triangles(geometry: BufferGeometry): number {
  return (geometry.index?.count ?? geometry.attributes["position"]!.count) / 3;
}

function corner(geometry: BufferGeometry, i: number): number {
  return geometry.index ? geometry.index.getX(i) : i;
}

function area(geometry: BufferGeometry): number {
  const position = geometry.attributes["position"] as BufferAttribute;
  const [a, b, c] = [new Vector3(), new Vector3(), new Vector3()];
  let sum = 0;
  for (let i = 0; i < 3 * triangles(geometry); i += 3) {
    a.fromBufferAttribute(position, corner(geometry, i));
    b.fromBufferAttribute(position, corner(geometry, i + 1)).sub(a);
    c.fromBufferAttribute(position, corner(geometry, i + 2)).sub(a);
    sum += b.cross(c).length() / 2;
  }
  return sum;
}

/** Indices for keys, in order of first occurrence. */
class Numbering {
  private readonly known = new Map<number, number>();
  of(key: number): number {
    let found = this.known.get(key);
    if (found === undefined) this.known.set(key, (found = this.known.size));
    return found;
  }
  get size() {
    return this.known.size;
  }
}

function clustered(geometry: BufferGeometry, cell: number): BufferGeometry {
  const { position, normal, uv, color } = geometry.attributes as Record<string, BufferAttribute | undefined>;
  const low = geometry.boundingBox!.min;
  const cells = new Numbering(), corners = new Numbering();
  const sums: number[] = []; // of positions in a cell, and their count
  const cellOf = (v: number) => {
    const at = (k: 0 | 1 | 2) => Math.floor((position!.getComponent(v, k) - low.getComponent(k)) / cell);
    const found = cells.of(at(0) + 4096 * (at(1) + 4096 * at(2)));
    for (let k = 0; k < 3; ++k) sums[4 * found + k] = (sums[4 * found + k] ?? 0) + position!.getComponent(v, k);
    sums[4 * found + 3] = (sums[4 * found + 3] ?? 0) + 1;
    return found;
  };
  /** Directions to a sixth of a turn and texture coordinates to an eighth, as one number. */
  const sideOf = (v: number) => {
    let key = 0;
    if (normal) for (let k = 0; k < 3; ++k) key = 3 * key + Math.round(normal.getComponent(v, k)) + 1;
    if (uv) for (let k = 0; k < 2; ++k) key = 16 * key + (Math.round(8 * uv.getComponent(v, k)) & 15);
    return key;
  };
  const index: number[] = [], first: number[] = [], owner: number[] = [];
  const normals: number[] = [];
  const seen = new Set<string>();
  for (let i = 0; i < 3 * triangles(geometry); i += 3) {
    const v = [0, 1, 2].map((k) => corner(geometry, i + k));
    const own = v.map(cellOf);
    if (own[0] === own[1] || own[1] === own[2] || own[2] === own[0]) continue;
    const turn = own.indexOf(Math.min(...own)); // the same triangle, whichever corner comes first; its back is another
    const key = `${own[turn]} ${own[(turn + 1) % 3]} ${own[(turn + 2) % 3]}`;
    if (seen.has(key)) continue;
    seen.add(key);
    v.forEach((at, k) => {
      const found = corners.of(own[k]! + 67108864 * sideOf(at));
      if (found === first.length) {
        first.push(at);
        owner.push(own[k]!);
      }
      for (let c = 0; c < 3; ++c) normals[3 * found + c] = (normals[3 * found + c] ?? 0) + (normal?.getComponent(at, c) ?? 0);
      index.push(found);
    });
  }
  return gathered({ index, first, owner, sums, normals: normal ? normals : undefined, uv, color });
}

function gathered(parts: { index: number[]; first: number[]; owner: number[]; sums: number[]; normals: number[] | undefined; uv: BufferAttribute | undefined; color: BufferAttribute | undefined }): BufferGeometry {
  const { index, first, owner, sums, normals } = parts;
  const out = new BufferGeometry().setIndex(index);
  const positions = new Float32Array(3 * first.length);
  owner.forEach((c, i) => {
    for (let k = 0; k < 3; ++k) positions[3 * i + k] = sums[4 * c + k]! / sums[4 * c + 3]!;
  });
  out.setAttribute("position", new BufferAttribute(positions, 3));
  if (normals) {
    out.setAttribute("normal", new BufferAttribute(new Float32Array(normals), 3));
    out.normalizeNormals();
  } else out.computeVertexNormals();
  for (const [name, source] of [["uv", parts.uv], ["color", parts.color]] as const) {
    if (!source) continue;
    const values = new Float32Array(source.itemSize * first.length);
    first.forEach((v, i) => {
      for (let k = 0; k < source.itemSize; ++k) values[source.itemSize * i + k] = source.getComponent(v, k);
    });
    out.setAttribute(name, new BufferAttribute(values, source.itemSize));
  }
  return out;
}
