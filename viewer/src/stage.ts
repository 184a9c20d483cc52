import {
  ACESFilmicToneMapping, Box3, Color, DirectionalLight, Fog, HemisphereLight, Mesh, Object3D, PCFShadowMap, PCFSoftShadowMap, PerspectiveCamera, PlaneGeometry,
  Raycaster, Scene as ThreeScene, ShaderMaterial, ShadowMaterial, SphereGeometry, BackSide, SRGBColorSpace, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { ViewerError } from "./bytes";
import { STAGE, type Look } from "./theme";

/** Renderer, camera, light and ground. */

export type Preset = "angle" | "front" | "side" | "top";
const DIRECTIONS: Record<Preset, [number, number, number]> = { angle: [0.86, -0.62, 0.34], front: [1, 0, 0.12], side: [0, -1, 0.12], top: [0.001, 0, 1] };

/** How much is spent on a picture. Machines without a graphics processor get by with less. */
export type Quality = "high" | "low";

function gridMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: { color: { value: new Color() }, center: { value: new Vector2() }, reach: { value: 9 } },
    vertexShader: `varying vec2 p; void main() { vec4 w = modelMatrix * vec4(position, 1.0); p = w.xy; gl_Position = projectionMatrix * viewMatrix * w; }`,
    fragmentShader: `
      varying vec2 p; uniform vec3 color; uniform vec2 center; uniform float reach;
      float lines(vec2 x, float width) {
        vec2 d = fwidth(x), a = abs(fract(x - 0.5) - 0.5);
        vec2 s = smoothstep(d * (width + 0.7), d * max(width - 0.3, 0.0), a);
        return max(s.x, s.y) * (1.0 - smoothstep(0.3, 0.8, max(d.x, d.y)));
      }
      void main() {
        float fade = 1.0 - smoothstep(0.12 * reach, reach, length(p - center));
        float a = max(0.10 * lines(p * 4.0, 0.4), 0.34 * lines(p, 0.6));
        gl_FragColor = vec4(color, a * fade);
        #include <colorspace_fragment>
      }`,
  });
}

function skyMaterial(): ShaderMaterial {
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

/** Whether WebGL is drawn by the processor, found out on a canvas of its own. */
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
  private readonly grid: Mesh<PlaneGeometry, ShaderMaterial>;
  private readonly catcher: Mesh<PlaneGeometry, ShadowMaterial>;
  private readonly sky: Mesh<SphereGeometry, ShaderMaterial>;
  private readonly raycaster = new Raycaster();
  private extent = 2;
  private fine = false;
  private pictures = 2;

  constructor(readonly canvas: HTMLCanvasElement, quality?: Quality) {
    this.quality = quality ?? (isSoftware() ? "low" : "high");
    const low = this.quality === "low";
    try {
      // Opaque, which three.js would not ask for: nothing has to be blended with the page behind.
      const context = canvas.getContext("webgl2", { alpha: false, antialias: !low, preserveDrawingBuffer: quality === "high", powerPreference: "high-performance" });
      if (!context) throw new Error("no WebGL");
      this.renderer = new WebGLRenderer({ canvas, context });
    } catch {
      throw new ViewerError("The browser has no WebGL.", "Update it, or turn on hardware acceleration in its settings.");
    }
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.12;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = low ? PCFShadowMap : PCFSoftShadowMap;
    this.scene.up.set(0, 0, 1);
    Object3D.DEFAULT_UP.set(0, 0, 1);
    this.camera.up.set(0, 0, 1);
    this.fill.position.set(0, 0, 1);
    this.sun.castShadow = true;
    const size = low ? 512 : 2048;
    this.sun.shadow.mapSize.set(size, size);
    this.sun.shadow.radius = low ? 1.5 : 5;
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.012;
    this.grid = new Mesh(new PlaneGeometry(60, 60), gridMaterial());
    this.grid.renderOrder = 1;
    this.catcher = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.3 }));
    this.catcher.receiveShadow = true;
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
    this.grid.visible = this.catcher.visible = shown;
  }
  get ground() {
    return this.grid.visible;
  }

  /** Renders once with more pixels than the screen has, for the eye that rests on it: machines that cannot afford it while things
   * move can when they stand still. */
  renderFine() {
    if (this.quality === "high") return;
    this.renderer.setPixelRatio(2);
    this.renderer.shadowMap.needsUpdate = true;
    this.draw();
    this.fine = true;
  }

  resize(width: number, height: number, scale = Math.min(devicePixelRatio, 2)) {
    this.renderer.setPixelRatio(this.quality === "low" ? Math.min(scale, 1) : scale);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
  }

  /** Puts the box into the picture, from a direction. */
  look(box: Box3, preset: Preset, margin = 1.12) {
    const center = box.isEmpty() ? new Vector3(0, 0, 0.5) : box.getCenter(new Vector3());
    const radius = box.isEmpty() ? 1 : Math.max(0.15, box.getSize(new Vector3()).length() / 2);
    this.extent = radius;
    const half = Math.min((this.camera.fov * Math.PI) / 360, Math.atan(Math.tan((this.camera.fov * Math.PI) / 360) * this.camera.aspect));
    const distance = (margin * radius) / Math.sin(half);
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(new Vector3(...DIRECTIONS[preset]).normalize(), distance);
    this.controls.update();
  }

  /** Moves camera and target along. */
  follow(by: Vector3) {
    this.controls.target.add(by);
    this.camera.position.add(by);
  }

  render() {
    if (this.fine) this.renderer.setPixelRatio(1);
    this.fine = false;
    // Without a graphics processor shadows lag by two pictures at most.
    this.renderer.shadowMap.autoUpdate = this.quality === "high";
    this.renderer.shadowMap.needsUpdate = this.quality === "low" && ++this.pictures % 3 === 0;
    this.draw();
  }

  private draw() {
    const target = this.controls.target;
    const reach = Math.max(2.2, 1.6 * this.extent);
    this.sun.position.copy(target).add(new Vector3(0.55, -0.75, 1.6).multiplyScalar(reach * 1.6));
    this.sun.target.position.copy(target);
    const shadow = this.sun.shadow.camera;
    if (shadow.right !== reach) {
      shadow.left = shadow.bottom = -reach;
      shadow.right = shadow.top = reach;
      shadow.near = 0.1;
      shadow.far = 6 * reach;
      shadow.updateProjectionMatrix();
    }
    const distance = this.camera.position.distanceTo(target);
    this.grid.position.set(Math.round(target.x), Math.round(target.y), 0.001);
    this.catcher.position.set(target.x, target.y, 0);
    this.catcher.scale.setScalar(2 * reach); // no larger than the light's own picture
    (this.grid.material.uniforms["center"]!.value as Vector2).set(target.x, target.y);
    this.grid.material.uniforms["reach"]!.value = Math.min(28, Math.max(5, 2.4 * distance));
    this.renderer.render(this.scene, this.camera);
  }

  /** A ray from the eye through a point of the page. */
  ray(clientX: number, clientY: number): Raycaster {
    const r = this.canvas.getBoundingClientRect();
    this.raycaster.setFromCamera(new Vector2(((clientX - r.left) / r.width) * 2 - 1, 1 - ((clientY - r.top) / r.height) * 2), this.camera);
    return this.raycaster;
  }
}
