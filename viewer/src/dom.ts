/** The element with the id; that it is there is part of the page. */
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

/** A number for people: four significant digits, a real minus sign. */
export function pretty(x: number): string {
  if (!Number.isFinite(x)) return String(x);
  const a = Math.abs(x);
  const text = a !== 0 && (a < 1e-3 || a >= 1e5) ? x.toExponential(2) : x.toPrecision(4);
  return text.replace("-", "−");
}
