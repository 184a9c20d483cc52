import { type Material, MeshLambertMaterial, type MeshLambertMaterialParameters } from "three";
import { PLACES_DECLARED, PLACES_READ, type Places } from "./merged";

/** Materials for software rendering: light, tone mapping and colour space are computed at vertices and interpolated. Pixels then
 * cost next to nothing; boxes look the same, round shapes nearly. */

export type Light = "scene" | "none"; // light of a surface; without any it is uniformly coloured

const VERTEX = `
  #include <common>
  #include <lights_pars_begin>
  #include <tonemapping_pars_fragment>
  #include <colorspace_pars_fragment>
  uniform vec3 diffuse;
  varying vec3 shade;
  ${PLACES_DECLARED}
  void main() {
    ${PLACES_READ}
    vec3 base = diffuse;
    #ifdef USE_COLOR
      base *= color;
    #endif
    #ifdef USE_INSTANCING_COLOR
      base *= instanceColor;
    #endif
    #ifdef WITHOUT_LIGHT
      vec3 light = vec3(PI);
    #else
      #include <beginnormal_vertex>
      #include <defaultnormal_vertex>
      vec3 n = normalize(transformedNormal), light = ambientLightColor;
      for (int i = 0; i < NUM_HEMI_LIGHTS; ++i) light += getHemisphereLightIrradiance(hemisphereLights[i], n);
      for (int i = 0; i < NUM_DIR_LIGHTS; ++i) light += max(0.0, dot(n, directionalLights[i].direction)) * directionalLights[i].color;
    #endif
    shade = sRGBTransferOETF(vec4(ACESFilmicToneMapping(RECIPROCAL_PI * light * base), 1.0)).rgb;
    #include <begin_vertex>
    #include <project_vertex>
  }`;
const FRAGMENT = "uniform float opacity; varying vec3 shade; void main() { gl_FragColor = vec4(shade, opacity); }";

/** For a mesh, an instanced mesh, or merged pieces with their own transforms. */
export function cornerLit(options: MeshLambertMaterialParameters, light: Light = "scene", places?: Places): Material {
  const material = new MeshLambertMaterial(options);
  material.defines = { ...(light === "none" && { WITHOUT_LIGHT: "" }), ...(places && { MERGED: "" }) };
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = VERTEX;
    shader.fragmentShader = FRAGMENT;
    if (places) shader.uniforms["places"] = { value: places.texture };
  };
  return material;
}
