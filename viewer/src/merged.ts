import { BufferAttribute, BufferGeometry, type Color, DataTexture, FloatType, type Matrix4, RGBAFormat } from "three";

/** Many pieces in one draw call. In software rendering a call costs as much as a hundred triangles, and an instanced mesh is one call
 * per instance; so the pieces become one geometry, and each gets its transform and colour by its index. */

export const MOST_PIECES = 4096; // rows of the texture with their transforms; every WebGL 2 supports more

const WIDTH = 5; // texels of a row: the columns of the matrix, then the colour

/** Transforms and colours of the pieces. */
export class Places {
  readonly texture: DataTexture;
  private readonly values: Float32Array;

  constructor(count: number) {
    this.values = new Float32Array(4 * WIDTH * count);
    this.texture = new DataTexture(this.values, WIDTH, count, RGBAFormat, FloatType);
  }
  place(piece: number, matrix: Matrix4) {
    matrix.toArray(this.values, 4 * WIDTH * piece);
    this.texture.needsUpdate = true;
  }
  tint(piece: number, color: Color) {
    color.toArray(this.values, 4 * WIDTH * piece + 16);
    this.texture.needsUpdate = true;
  }
}

/** For the vertex shader: provides the attributes of an instanced mesh. */
export const PLACES_DECLARED = `
  #ifdef MERGED
    attribute float piece;
    uniform highp sampler2D places;
    #define USE_INSTANCING
    #define USE_INSTANCING_COLOR
  #endif`;
export const PLACES_READ = `
  #ifdef MERGED
    int row = int(piece + 0.5);
    mat4 instanceMatrix = mat4(texelFetch(places, ivec2(0, row), 0), texelFetch(places, ivec2(1, row), 0), texelFetch(places, ivec2(2, row), 0), texelFetch(places, ivec2(3, row), 0));
    vec3 instanceColor = texelFetch(places, ivec2(4, row), 0).rgb;
  #endif`;

/** One geometry of all pieces, in order. Pieces without vertex colours are white. */
export function merged(pieces: BufferGeometry[]): BufferGeometry {
  const corners = pieces.reduce((n, g) => n + g.attributes["position"]!.count, 0);
  const indices = pieces.reduce((n, g) => n + indexCount(g), 0);
  const position = new Float32Array(3 * corners), normal = new Float32Array(3 * corners), color = new Float32Array(3 * corners).fill(1), piece = new Float32Array(corners);
  const index = new Uint32Array(indices);
  let corner = 0, at = 0;
  pieces.forEach((g, number) => {
    const count = g.attributes["position"]!.count;
    copy(g, "position", position, corner);
    copy(g, "normal", normal, corner);
    copy(g, "color", color, corner);
    piece.fill(number, corner, corner + count);
    for (let i = 0; i < indexCount(g); ++i) index[at++] = corner + (g.index ? g.index.getX(i) : i);
    corner += count;
  });
  return new BufferGeometry().setIndex(new BufferAttribute(index, 1)).setAttribute("position", new BufferAttribute(position, 3))
    .setAttribute("normal", new BufferAttribute(normal, 3)).setAttribute("color", new BufferAttribute(color, 3)).setAttribute("piece", new BufferAttribute(piece, 1));
}

export function indexCount(geometry: BufferGeometry): number {
  return geometry.index?.count ?? geometry.attributes["position"]!.count;
}

function copy(from: BufferGeometry, name: string, to: Float32Array, corner: number) {
  const source = from.attributes[name];
  if (!source) return;
  for (let i = 0; i < source.count; ++i) for (let k = 0; k < 3; ++k) to[3 * (corner + i) + k] = source.getComponent(i, k);
}
