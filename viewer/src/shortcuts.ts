import { make } from "./dom";

/** Keyboard shortcuts and their help sheet. */
export interface Shortcut {
  keys: string[];
  label: string;
  help: string;
  run: (event: KeyboardEvent) => void;
}

const inField = (target: EventTarget | null) =>
  target instanceof HTMLInputElement ? target.type !== "range" && target.type !== "checkbox" : target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;

let current: Shortcut[] | undefined;

/** Replaces all shortcuts. */
export function listen(shortcuts: Shortcut[]) {
  const first = current === undefined;
  current = shortcuts;
  if (!first) return;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    if (inField(event.target) && event.key !== "Escape") return;
    // A focused button keeps the keys that activate it.
    if ((event.key === " " || event.key === "Enter") && event.target instanceof HTMLElement && event.target.closest("button, summary, [type=checkbox]")) return;
    const name = (event.shiftKey && event.key.startsWith("Arrow") ? "Shift+" : "") + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
    const found = current?.find((s) => s.keys.includes(name));
    if (!found) return;
    event.preventDefault();
    found.run(event);
  });
}

export function fillHelp(dialog: HTMLDialogElement, shortcuts: Shortcut[], live: boolean) {
  const close = make("button", { class: "text", onclick: () => dialog.close() }, "Close");
  const keys = make("div", { class: "keys" }, ...shortcuts.map((s) => make("div", {}, make("span", {}, s.help), make("kbd", {}, s.label))));
  const mouse = make("p", { class: "quiet" }, "Drag to orbit, right-drag or two fingers to pan, wheel to zoom, click to select. " +
    (live ? "Drag a body to pull it; double-click to hold it, again to release it." : "Drop a recording onto the page to open it."));
  dialog.replaceChildren(make("h2", { id: "help-title" }, "Keyboard shortcuts"), keys, mouse, close);
}
