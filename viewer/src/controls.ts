import type { App } from "./app";
import { makeChooser } from "./chooser";
import { byId, make } from "./dom";
import { setIcon } from "./icons";
import type { OverlayName } from "./overlays";
import { fillHelp, listen, type Shortcut } from "./shortcuts";
import type { Preset } from "./stage";
import { COM, CONNECTION, CONTACT, COP, JOINT } from "./theme";

/** Buttons, menus, panels and keys of the page. */

type Panel = "side" | "plots";
interface Toggle {
  name: string;
  key: string;
  get: () => boolean;
  set: (on: boolean) => void;
}

export class Controls {
  private legendShown = "";

  constructor(private readonly app: App) {
    for (const element of document.querySelectorAll<HTMLElement>("[data-icon]")) setIcon(element, element.dataset["icon"]!);
    this.connectTime();
    this.connectBar();
    this.connectFields();
    this.viewMenu();
    const shortcuts = this.shortcuts();
    listen(shortcuts);
    fillHelp(byId<HTMLDialogElement>("help"), shortcuts, !!app.live);
    this.setPanel("side", innerWidth > 720);
    if (app.recording && !app.recording.complete) app.notice("The recording is truncated; the complete part is shown.");
  }

  private connectTime() {
    const { app } = this;
    const [start, end] = app.span();
    const slider = byId<HTMLInputElement>("time");
    slider.min = String(start);
    slider.max = String(end);
    slider.value = String(app.time);
    slider.addEventListener("input", () => {
      const wanted = Number(slider.value); // before pausing, which sets the slider
      app.setPlaying(false);
      void app.seek(wanted);
    });
    byId("length").textContent = `/ ${end.toFixed(2)} s`;
    byId("play").addEventListener("click", () => app.toggle());
    byId("back").addEventListener("click", () => void app.step(-1));
    byId("ahead").addEventListener("click", () => void app.step(1));
    byId("loop").addEventListener("click", () => (app.loop = press("loop", !app.loop)));
    byId("follow").addEventListener("click", () => (app.follow = press("follow", !app.follow)));
    byId("speed").addEventListener("change", () => app.live?.send({ type: "speed", value: Number(byId<HTMLSelectElement>("speed").value) }));
    byId("transport").hidden = app.still;
    if (app.still) byId("app").style.gridTemplateRows = "48px minmax(0, 1fr) auto 0";
    for (const name of ["loop", "length"]) byId(name).hidden = !!app.live;
  }

  private connectBar() {
    const { app } = this;
    const title = app.scene.notes["title"] || app.recording?.name || "live";
    byId("title").textContent = title.split("/").pop()!; // for a model it is the name of its file
    document.title = `${byId("title").textContent} – kansetsu`;
    byId("camera").addEventListener("change", () => this.camera(byId<HTMLSelectElement>("camera").value as Preset));
    byId("side-button").addEventListener("click", () => this.togglePanel("side"));
    byId("plots-button").addEventListener("click", () => this.togglePanel("plots"));
    byId("look-button").addEventListener("click", () => app.switchLook());
    byId("help-button").addEventListener("click", () => byId<HTMLDialogElement>("help").showModal());
  }

  private connectFields() {
    const { app } = this;
    byId("save-csv").addEventListener("click", () => app.plots.saveCsv());
    byId("save-svg").addEventListener("click", () => app.plots.saveSvg());
    const search = byId<HTMLInputElement>("search");
    search.addEventListener("input", () => app.tree.search(search.value));
    search.addEventListener("keydown", (event) => event.key === "Enter" && app.tree.chooseFirst());
    makeChooser(byId<HTMLInputElement>("channel"), byId("channels"), () => app.plots.known, (name) => app.plot(name));
  }

  setPanel(name: Panel, shown: boolean) {
    byId("app").classList.toggle(`no-${name}`, !shown);
    byId(`${name}-button`).setAttribute("aria-expanded", String(shown));
    if (name === "plots" && shown) this.app.plots.show(this.app.time);
  }
  private togglePanel(name: Panel) {
    this.setPanel(name, byId("app").classList.contains(`no-${name}`));
  }

  private camera(preset: Preset) {
    byId<HTMLSelectElement>("camera").value = preset;
    this.app.lookFrom(preset);
  }

  private speedBy(steps: number) {
    const select = byId<HTMLSelectElement>("speed");
    select.selectedIndex = Math.min(select.options.length - 1, Math.max(0, select.selectedIndex + steps));
    select.dispatchEvent(new Event("change"));
  }

  private toggles(): Toggle[] {
    const { app } = this;
    const overlay = (name: OverlayName, label: string, key: string) => ({
      name: label,
      key,
      get: () => app.overlays.shown[name],
      set: (on: boolean) => {
        app.overlays.shown[name] = on;
        this.legend();
        app.move();
      },
    });
    return [
      overlay("contacts", "Contact forces", "c"),
      overlay("com", "Centres of mass and pressure", "m"),
      overlay("joints", "Joint axes", "j"),
      overlay("frames", "Link frames", "a"),
      overlay("trails", "Trails", "t"),
      { name: "Capsule body", key: "b", get: () => app.style === "bones", set: (on) => void app.setStyle(on ? "bones" : "shapes") },
      { name: "Ground", key: "g", get: () => app.stage.ground, set: (on) => app.setGround(on) },
    ];
  }

  private viewMenu() {
    const options = byId("view-options");
    for (const toggle of this.toggles()) {
      const box = make("input", { type: "checkbox", id: `show-${toggle.key}` });
      box.checked = toggle.get();
      box.addEventListener("change", () => toggle.set(box.checked));
      options.append(make("label", {}, box, toggle.name, make("kbd", {}, toggle.key.toUpperCase())));
    }
    const scale = make("input", { type: "range", min: -1, max: 1, step: 0.05, value: 0 });
    scale.addEventListener("input", () => {
      this.app.overlays.forceScale = 10 ** Number(scale.value);
      this.legend();
      this.app.move();
    });
    options.append(make("label", { class: "range" }, "Arrow length", scale));
    addEventListener("pointerdown", (event) => {
      const menu = byId<HTMLDetailsElement>("view-menu");
      if (menu.open && !menu.contains(event.target as Node)) menu.open = false;
    });
    this.legend();
  }

  /** The legend of colours. */
  legend() {
    const { shown, metresPerNewton } = this.app.overlays;
    const forces = !!this.app.live || (this.app.frame?.contacts.length ?? 0) > 0;
    const joined = (this.app.frame?.connections.length ?? 0) > 0;
    const newtons = 1 / metresPerNewton;
    const scale = `1 m = ${newtons >= 1000 ? `${Number((newtons / 1000).toPrecision(2))} kN` : `${Number(newtons.toPrecision(2))} N`}`;
    const entries: [boolean, string, string][] = [
      [shown.contacts && forces, CONTACT.getHexString(), `contact force, ${scale}`], [shown.contacts && joined, CONNECTION.getHexString(), "connection force"],
      [shown.com, COM.getHexString(), "centre of mass"], [shown.com && forces, COP.getHexString(), "centre of pressure"], [shown.joints, JOINT.getHexString(), "joint axis"],
    ];
    const wanted = entries.filter(([on]) => on), key = wanted.join();
    if (key === this.legendShown) return;
    this.legendShown = key;
    byId("legend").replaceChildren(...wanted.map(([, color, text]) => {
      const dot = make("i");
      dot.style.background = `#${color}`;
      return make("span", {}, dot, text);
    }));
  }

  private shortcuts(): Shortcut[] {
    const { app } = this;
    const press = (id: string) => () => byId(id).click();
    const hold: Shortcut[] = app.hands
      ? [
          { keys: ["h"], label: "H", help: "Hold or release the selected link", run: () => app.hands?.toggleSelected() },
          { keys: ["r"], label: "R", help: "Record, or stop and save", run: () => app.hands?.toggleRecording() },
        ]
      : [];
    return [
      { keys: [" "], label: "Space", help: "Play or pause", run: () => app.toggle() },
      { keys: ["ArrowRight"], label: "→", help: "Next frame", run: () => void app.step(1) },
      { keys: ["ArrowLeft"], label: "←", help: "Previous frame", run: () => void app.step(-1) },
      { keys: ["Shift+ArrowRight"], label: "Shift →", help: "Forward by one second", run: () => void app.seek(app.time + 1) },
      { keys: ["Shift+ArrowLeft"], label: "Shift ←", help: "Back by one second", run: () => void app.seek(app.time - 1) },
      { keys: ["Home"], label: "Home", help: "Go to the start", run: () => void app.seek(-Infinity) },
      { keys: ["End"], label: "End", help: "Go to the end", run: () => void app.seek(Infinity) },
      { keys: ["+", "="], label: "+", help: "Faster", run: () => this.speedBy(1) },
      { keys: ["-"], label: "−", help: "Slower", run: () => this.speedBy(-1) },
      { keys: ["l"], label: "L", help: "Loop", run: press("loop") },
      { keys: ["f"], label: "F", help: "Fit the selection, or everything, into view", run: () => app.fit() },
      { keys: ["0"], label: "0", help: "Home view", run: () => this.camera("angle") },
      { keys: ["v"], label: "V", help: "Follow with the camera", run: press("follow") },
      { keys: ["1"], label: "1", help: "Camera at an angle", run: () => this.camera("angle") },
      { keys: ["2"], label: "2", help: "Camera in front", run: () => this.camera("front") },
      { keys: ["3"], label: "3", help: "Camera at the side", run: () => this.camera("side") },
      { keys: ["4"], label: "4", help: "Camera above", run: () => this.camera("top") },
      ...this.toggles().map((t) => ({ keys: [t.key], label: t.key.toUpperCase(), help: t.name, run: press(`show-${t.key}`) })),
      ...hold,
      { keys: ["s"], label: "S", help: "Links panel", run: () => this.togglePanel("side") },
      { keys: ["p"], label: "P", help: "Plots", run: () => this.togglePanel("plots") },
      { keys: ["d"], label: "D", help: "Dark or light", run: () => app.switchLook() },
      { keys: ["/"], label: "/", help: "Search", run: () => this.search() },
      { keys: ["Escape"], label: "Esc", help: "Clear the selection, close panels", run: () => this.escape() },
      { keys: ["?"], label: "?", help: "Show this help", run: () => this.toggleHelp() },
    ];
  }

  private search() {
    this.setPanel("side", true);
    byId("search").focus();
  }
  private toggleHelp() {
    const help = byId<HTMLDialogElement>("help");
    if (help.open) help.close();
    else help.showModal();
  }
  private escape() {
    byId<HTMLDetailsElement>("view-menu").open = false;
    const search = byId<HTMLInputElement>("search");
    if (search.value) {
      search.value = "";
      this.app.tree.search("");
    }
    this.app.select(undefined);
    byId("canvas").focus();
  }
}

/** Shows a button as pressed or not. */
export function press(id: string, on: boolean) {
  byId(id).setAttribute("aria-pressed", String(on));
  return on;
}
