import {
  ACESFilmicToneMapping, Box3, DirectionalLight, Fog, HemisphereLight, Mesh, Object3D, PCFSoftShadowMap, PerspectiveCamera, PlaneGeometry, Raycaster,
  Scene as ThreeScene, ShaderMaterial, ShadowMaterial, SphereGeometry, SRGBColorSpace, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { ViewerError } from "./bytes";
import { Governor } from "./governor";
import { gridOf, placeGrid, skyMaterial, SUN, type Grid } from "./ground";
import { STAGE, type Look } from "./theme";

/** Renderer, camera, light and ground. */

export type Preset = "angle" | "front" | "side" | "top";
const DIRECTIONS: Record<Preset, [number, number, number]> = { angle: [0.86, -0.62, 0.34], front: [1, 0, 0.12], side: [0, -1, 0.12], top: [0.001, 0, 1] };

/** Rendering quality; low for software rendering. */
export type Quality = "high" | "low";

/** Whether WebGL is rendered in software, tested on a separate canvas. */
function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = String(info ? gl!.getParameter(info.UNMASKED_RENDERER_WEBGL) : "");
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class Stage {
  readonly scene = new ThreeScene();
  readonly camera = new PerspectiveCamera(38, 1, 0.02, 400);
  readonly renderer: WebGLRenderer;
  readonly controls: OrbitControls;
  quality: Quality;
  private readonly sun = new DirectionalLight(0xffffff, 2.4);
  private readonly fill = new HemisphereLight(0xffffff, 0x8a8f99, 1.55);
  private readonly grid: Grid;
  private readonly catcher: Mesh<PlaneGeometry, ShadowMaterial>;
  private readonly sky: Mesh<SphereGeometry, ShaderMaterial>;
  private readonly raycaster = new Raycaster();
  private extent = 2;
  private fine = false;
  groundLevel = 0; // [m]
  private readonly governor = new Governor();

  constructor(readonly canvas: HTMLCanvasElement, quality?: Quality) {
    this.quality = quality ?? (isSoftware() ? "low" : "high");
    const low = this.quality === "low";
    try {
      // Opaque, unlike the default of three.js: nothing is blended with the page behind.
      const context = canvas.getContext("webgl2", { alpha: false, stencil: low, antialias: !low, preserveDrawingBuffer: quality === "high", powerPreference: "high-performance" });
      if (!context) throw new Error("no WebGL");
      this.renderer = new WebGLRenderer({ canvas, context });
    } catch {
      throw new ViewerError("The browser has no WebGL.", "Update it, or turn on hardware acceleration in its settings.");
    }
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.12;
    this.renderer.shadowMap.enabled = !low; // Bodies draws flat shadows instead
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.scene.up.set(0, 0, 1);
    Object3D.DEFAULT_UP.set(0, 0, 1);
    this.camera.up.set(0, 0, 1);
    this.fill.position.set(0, 0, 1);
    this.sun.castShadow = !low;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 5;
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.002;
    this.grid = gridOf(this.quality);
    this.grid.renderOrder = 1;
    // It hides nothing: the depths of two planes a millimetre apart, cut behind the eye, may come in either order.
    this.catcher = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.3, depthWrite: false }));
    this.catcher.receiveShadow = true;
    this.catcher.visible = !low;
    this.sky = new Mesh(new SphereGeometry(1, 24, 12), skyMaterial());
    this.sky.frustumCulled = false;
    this.sky.renderOrder = -10;
    this.sky.visible = !low;
    this.scene.add(this.sky, this.fill, this.sun, this.sun.target, this.catcher, this.grid);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxDistance = 150;
    this.controls.minDistance = 0.05;
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  }

  setLook(look: Look) {
    const colors = STAGE[look];
    this.sky.material.uniforms["top"]!.value = colors.top;
    this.sky.material.uniforms["bottom"]!.value = colors.bottom;
    this.grid.material.uniforms["color"]!.value = colors.grid;
    this.catcher.material.opacity = colors.shadow;
    this.scene.background = colors.bottom;
    this.scene.fog = this.quality === "low" ? null : new Fog(colors.bottom, 30, 120);
    this.fill.intensity = look === "dark" ? 1.25 : 1.55;
  }

  set ground(shown: boolean) {
    this.grid.visible = shown;
    this.catcher.visible = shown && this.quality === "high";
  }
  get ground() {
    return this.grid.visible;
  }

  /** Renders once with more pixels than the screen has, for the eye that rests on it: machines that cannot afford it while things
   * move can when they stand still. */
  renderFine() {
    this.renderer.setPixelRatio(2);
    this.draw();
    this.fine = true;
  }

  /** Takes the time of the last picture [ms], or none if it was not part of a sequence. In software rendering, late pictures get
   * fewer pixels, and more again once there is time. */
  pace(elapsed: number | undefined) {
    if (this.quality === "low" && this.governor.note(elapsed)) this.renderer.setPixelRatio(this.governor.ratio);
  }

  resize(width: number, height: number, scale = Math.min(devicePixelRatio, 2)) {
    this.renderer.setPixelRatio(this.quality === "low" ? this.governor.ratio : scale);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
  }

  /** Shows the box from a direction, from as near as its corners allow. */
  look(box: Box3, preset: Preset, margin = 1.15) {
    const center = box.isEmpty() ? new Vector3(0, 0, 0.5) : box.getCenter(new Vector3());
    const size = box.isEmpty() ? new Vector3(1, 1, 1) : box.getSize(new Vector3()).clampScalar(0.15, Infinity);
    this.extent = size.length() / 2;
    const back = new Vector3(...DIRECTIONS[preset]).normalize();
    const right = new Vector3(0, 0, 1).cross(back).normalize(), up = back.clone().cross(right);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360), wide = tall * this.camera.aspect;
    let distance = 0;
    for (let i = 0; i < 8; ++i) {
      const corner = size.clone().multiply(new Vector3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5));
      const across = Math.max(Math.abs(corner.dot(right)) / wide, Math.abs(corner.dot(up)) / tall);
      distance = Math.max(distance, corner.dot(back) + margin * across);
    }
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(back, distance);
    this.controls.update();
  }

  /** Shows the box without rotating the camera. */
  fit(box: Box3, margin = 1.3) {
    if (box.isEmpty()) return;
    const radius = Math.max(0.05, box.getSize(new Vector3()).length() / 2);
    const back = this.camera.position.clone().sub(this.controls.target).normalize();
    const half = Math.tan((this.camera.fov * Math.PI) / 360) * Math.min(1, this.camera.aspect);
    this.extent = radius;
    box.getCenter(this.controls.target);
    this.camera.position.copy(this.controls.target).addScaledVector(back, (margin * radius) / half);
    this.controls.update();
  }

  /** Distance of the camera from its target [m]. */
  get distance(): number {
    return this.camera.position.distanceTo(this.controls.target);
  }

  /** Moves camera and target. */
  follow(by: Vector3) {
    this.controls.target.add(by);
    this.camera.position.add(by);
  }

  render() {
    if (this.fine) this.renderer.setPixelRatio(this.governor.ratio);
    this.fine = false;
    this.draw();
  }

  private draw() {
    const target = this.controls.target;
    const reach = Math.max(2.2, 1.6 * this.extent);
    this.sun.position.copy(target).addScaledVector(SUN, reach * 1.6);
    this.sun.target.position.copy(target);
    const shadow = this.sun.shadow.camera;
    if (shadow.right !== reach) {
      shadow.left = shadow.bottom = -reach;
      shadow.right = shadow.top = reach;
      shadow.near = 0.1;
      shadow.far = 6 * reach;
      shadow.updateProjectionMatrix();
    }
    placeGrid(this.grid, target, this.groundLevel, this.distance, this.quality);
    this.catcher.position.set(target.x, target.y, this.groundLevel);
    this.catcher.scale.setScalar(2 * reach); // no larger than the shadow map
    this.renderer.render(this.scene, this.camera);
  }

  /** A ray from the camera through a point of the page. */
  ray(clientX: number, clientY: number): Raycaster {
    const r = this.canvas.getBoundingClientRect();
    this.raycaster.setFromCamera(new Vector2(((clientX - r.left) / r.width) * 2 - 1, 1 - ((clientY - r.top) / r.height) * 2), this.camera);
    return this.raycaster;
  }
}
