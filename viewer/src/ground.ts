import {
  type Box3, BackSide, BufferGeometry, Color, Float32BufferAttribute, LineSegments, Matrix4, Mesh, MeshBasicMaterial, NotEqualStencilFunc, PlaneGeometry, ReplaceStencilOp, ShaderMaterial, Vector2,
  Vector3,
} from "three";
import { PLACES_DECLARED, PLACES_READ, type Places } from "./merged";
import type { ShapeSpec } from "./scene";
import type { Quality } from "./stage";

/** Grid, sky, and shadows for software rendering. */

export const SUN = new Vector3(0.55, -0.75, 1.6); // direction towards the sun

export type Grid = (Mesh | LineSegments) & { material: ShaderMaterial };
const REACH: Record<Quality, number> = { high: 30, low: 12 }; // [m] from the middle, to each side; the grid has faded out there

const FADE = "float fade = 1.0 - smoothstep(0.12 * reach, reach, length(p - center));";
const uniforms = () => ({ color: { value: new Color() }, center: { value: new Vector2() }, reach: { value: 9 } });

/** Lines every metre and every quarter. Software rendering draws line primitives, and not as far: a shader over all of the ground
 * takes a fifth of its time. */
export function gridOf(quality: Quality): Grid {
  const reach = REACH[quality];
  return quality === "low" ? new LineSegments(lines(reach), lineMaterial()) : new Mesh(new PlaneGeometry(2 * reach, 2 * reach), gridMaterial());
}

/** Centres the grid below a point, for a given viewing distance. */
export function placeGrid(grid: Grid, at: Vector3, level: number, distance: number, quality: Quality) {
  grid.position.set(Math.round(at.x), Math.round(at.y), level + 0.001);
  (grid.material.uniforms["center"]!.value as Vector2).set(at.x, at.y);
  grid.material.uniforms["reach"]!.value = Math.min(REACH[quality] - 1, Math.max(5, 2.4 * distance));
}

function lines(reach: number): BufferGeometry {
  const positions: number[] = [], weights: number[] = [];
  // In pieces: SwiftShader omits lines that extend behind the camera.
  const cross = (at: number, half: number, weight: number) => {
    for (let from = -half, to = from + 3; from < half; from = to, to += 3) {
      positions.push(at, from, 0, at, to, 0, from, at, 0, to, at, 0);
      weights.push(weight, weight, weight, weight);
    }
  };
  for (let x = -reach; x <= reach; ++x) cross(x, reach, 0.6);
  for (let x = -3; x <= 3; x += 0.25) if (x % 1 !== 0) cross(x, 3, 0.22);
  return new BufferGeometry().setAttribute("position", new Float32BufferAttribute(positions, 3)).setAttribute("weight", new Float32BufferAttribute(weights, 1));
}

function lineMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: uniforms(),
    vertexShader: `attribute float weight; varying vec2 p; varying float a;
      void main() { vec4 w = modelMatrix * vec4(position, 1.0); p = w.xy; a = weight; gl_Position = projectionMatrix * viewMatrix * w; }`,
    fragmentShader: `
      varying vec2 p; varying float a; uniform vec3 color; uniform vec2 center; uniform float reach;
      void main() {
        ${FADE}
        gl_FragColor = vec4(color, a * fade);
        #include <colorspace_fragment>
      }`,
  });
}

function gridMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: uniforms(),
    vertexShader: `varying vec2 p; void main() { vec4 w = modelMatrix * vec4(position, 1.0); p = w.xy; gl_Position = projectionMatrix * viewMatrix * w; }`,
    fragmentShader: `
      varying vec2 p; uniform vec3 color; uniform vec2 center; uniform float reach;
      float lines(vec2 x, float width) {
        vec2 d = fwidth(x), a = abs(fract(x - 0.5) - 0.5);
        vec2 s = smoothstep(d * (width + 0.7), d * max(width - 0.3, 0.0), a);
        return max(s.x, s.y) * (1.0 - smoothstep(0.3, 0.8, max(d.x, d.y)));
      }
      void main() {
        ${FADE}
        float a = max(0.10 * lines(p * 4.0, 0.4), 0.34 * lines(p, 0.6));
        gl_FragColor = vec4(color, a * fade);
        #include <colorspace_fragment>
      }`,
  });
}

export function skyMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    side: BackSide,
    depthWrite: false,
    depthTest: false,
    uniforms: { top: { value: new Color() }, bottom: { value: new Color() } },
    vertexShader: `varying vec3 d; void main() { d = position; vec4 p = projectionMatrix * mat4(mat3(viewMatrix)) * vec4(position, 1.0); gl_Position = p.xyww; }`,
    fragmentShader: `varying vec3 d; uniform vec3 top; uniform vec3 bottom;
      void main() { float h = smoothstep(-0.15, 0.7, normalize(d).z); gl_FragColor = vec4(mix(bottom, top, h), 1.0);
      #include <colorspace_fragment>
      }`,
  });
}

const HANGING = 0.1; // share of the bodies' height that may be below z = 0: less for feet of a capture, more for robots modelled about their flange

/** The height of the ground: that of the highest level plane of the environment. Where there is no environment it is z = 0, or below
 * bodies that reach far below. */
export function groundLevel(environment: ShapeSpec[], bodies: Box3): number {
  const level = environment.filter((s) => s.type === "plane" && 1 - 2 * (s.pose[3] ** 2 + s.pose[4] ** 2) > 0.9999).map((s) => s.pose[2]);
  if (level.length > 0) return Math.max(...level);
  const { min, max } = bodies;
  return environment.length === 0 && !bodies.isEmpty() && -min.z > HANGING * (max.z - min.z) ? min.z : 0;
}

/** Flattens onto the ground, away from the sun. */
export function flattening(level: number, out = new Matrix4()): Matrix4 {
  const x = -SUN.x / SUN.z, y = -SUN.y / SUN.z;
  return out.set(1, 0, x, -x * level, 0, 1, y, -y * level, 0, 0, 0, level + 0.002, 0, 0, 0, 1);
}

/** Draws with flattening(): a shadow without a shadow map, which would take half of the time of software rendering. Only the ground
 * receives it; `level` is its height. */
export function flatShadow(level: { value: number }, places?: Places): MeshBasicMaterial {
  const material = new MeshBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.24, depthWrite: false });
  // Where shadows overlap they darken once.
  material.stencilWrite = true;
  material.stencilRef = 1;
  material.stencilFunc = NotEqualStencilFunc;
  material.stencilZPass = ReplaceStencilOp;
  // Nothing below the ground casts a shadow: bodies whose centre is below are omitted, parts below are raised to the ground.
  // (Discarding pixels would cost much more: it disables early depth tests.)
  if (places) material.defines = { MERGED: "" };
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = `
      uniform float level;
      ${PLACES_DECLARED}
      void main() {
        ${PLACES_READ}
        vec4 p = instanceMatrix * vec4(position, 1.0);
        p.z = max(p.z, level);
        gl_Position = instanceMatrix[3].z < level ? vec4(0.0, 0.0, 2.0, 1.0) : projectionMatrix * modelViewMatrix * p;
      }`;
    shader.uniforms["level"] = level;
    if (places) shader.uniforms["places"] = { value: places.texture };
    shader.fragmentShader = "uniform float opacity; void main() { gl_FragColor = vec4(0.0, 0.0, 0.0, opacity); }";
  };
  return material;
}
