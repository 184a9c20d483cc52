/** The element with the id, which must exist. */
export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

/** make("button", {class: "icon", onclick: …}, "text", child…) */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

export function download(name: string, content: Blob) {
  const link = make("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A warning that stays until it is closed. */
export function showWarning(title: string, text: string, help = "") {
  const box = byId("warning");
  const close = make("button", { class: "icon", "aria-label": "Close the warning", onclick: () => (box.hidden = true) }, "✕");
  box.replaceChildren(make("div", {}, make("b", {}, title), make("p", {}, text), ...(help ? [make("p", {}, make("code", {}, help))] : [])), close);
  box.hidden = false;
}

/** A formatted number: four significant digits, a typographic minus sign. */
export function pretty(x: number): string {
  if (!Number.isFinite(x)) return String(x);
  const a = Math.abs(x);
  const text = a !== 0 && (a < 1e-3 || a >= 1e5) ? x.toExponential(2) : x.toPrecision(4);
  return text.replace("-", "−");
}

/** The label of a tick, with as many digits as the spacing needs. */
export function tickLabel(value: number, step: number): string {
  if (value === 0 && step < 1e-5) return "0";
  if (Math.max(Math.abs(value), step) >= 1e6 || step < 1e-5) return `${Number(value.toPrecision(4))}`.replace("-", "−");
  const digits = Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return value.toFixed(digits).replace("-", "−");
}
