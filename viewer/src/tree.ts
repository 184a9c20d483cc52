import { make } from "./dom";
import type { BodyRef } from "./frame";
import type { Scene } from "./scene";

/** The tree of figures and links, with search and keyboard navigation. */

interface Node {
  body: BodyRef;
  name: string;
  joint: string;
  depth: number;
  children: Node[];
  parent: Node | undefined;
  open: boolean;
  row: HTMLElement;
}

export class Tree {
  private readonly roots: Node[] = [];
  private readonly all: Node[] = [];
  private selected: Node | undefined;
  private filter = "";

  constructor(private readonly element: HTMLElement, scene: Scene, private readonly onSelect: (body: BodyRef | undefined) => void) {
    element.replaceChildren();
    scene.figures.forEach((figure, f) => {
      const root = this.add({ figure: f, link: -1 }, figure.name, `${figure.nv} ${figure.nv === 1 ? "degree" : "degrees"} of freedom`, undefined);
      const nodes: Node[] = [];
      // Links with neither shape nor mass are between concurrent hinges: their joints are shown with the next link.
      figure.links.forEach((link, l) => {
        const joint = l > 0 ? figure.joints[l - 1] : undefined;
        nodes.push(this.add({ figure: f, link: l }, link.name, joint && joint.name !== link.name ? joint.name : "", nodes[link.parent] ?? root));
      });
      root.open = scene.figures.length < 5;
    });
    element.addEventListener("keydown", (event) => this.key(event));
    this.draw();
  }

  private add(body: BodyRef, name: string, joint: string, parent: Node | undefined): Node {
    const depth = parent ? parent.depth + 1 : 0;
    const row = make("div", { class: "node", role: "treeitem", "aria-level": depth + 1, "aria-selected": "false", tabindex: -1 });
    const node: Node = { body, name, joint, depth, children: [], parent, open: depth < 64, row };
    row.addEventListener("click", (event) => {
      if ((event.target as Element).classList.contains("fold") && node.children.length > 0) {
        node.open = !node.open;
        this.draw();
      } else this.choose(node);
    });
    (parent ? parent.children : this.roots).push(node);
    this.all.push(node);
    return node;
  }

  private choose(node: Node | undefined) {
    this.mark(node);
    this.onSelect(node?.body);
    node?.row.focus({ preventScroll: true });
  }

  private mark(node: Node | undefined) {
    this.selected?.row.setAttribute("aria-selected", "false");
    this.selected = node;
    for (let up = node?.parent; up; up = up.parent) up.open = true;
    this.draw();
    if (!node) return;
    node.row.setAttribute("aria-selected", "true");
    node.row.scrollIntoView({ block: "nearest" });
  }

  /** Shows a selection made elsewhere. */
  show(body: BodyRef | undefined) {
    this.mark(body && this.all.find((n) => n.body.figure === body.figure && n.body.link === body.link));
  }

  search(text: string) {
    this.filter = text.trim().toLowerCase();
    this.draw();
  }

  /** The first match, for Enter in the search field. */
  chooseFirst() {
    const first = this.all.find((n) => this.matches(n));
    if (first && this.filter) this.choose(first);
  }

  private matches(node: Node) {
    return node.name.toLowerCase().includes(this.filter) || node.joint.toLowerCase().includes(this.filter);
  }

  private visible(): Node[] {
    if (this.filter) return this.all.filter((n) => this.matches(n));
    const found: Node[] = [];
    const walk = (nodes: Node[]) => {
      for (const node of nodes) {
        found.push(node);
        if (node.open) walk(node.children);
      }
    };
    walk(this.roots);
    return found;
  }

  private draw() {
    const shown = this.visible();
    const current = this.selected && shown.includes(this.selected) ? this.selected : shown[0];
    for (const node of shown) {
      const { row } = node;
      const foldable = node.children.length > 0 && !this.filter;
      row.style.paddingLeft = `${this.filter ? 4 : Math.min(node.depth, 10) * 11}px`;
      row.replaceChildren(make("span", { class: "fold", "aria-hidden": "true" }, foldable ? (node.open ? "▾" : "▸") : ""), make("span", {}, node.name), make("span", { class: "joint" }, node.joint));
      if (foldable) row.setAttribute("aria-expanded", String(node.open));
      else row.removeAttribute("aria-expanded");
      row.tabIndex = node === current ? 0 : -1;
    }
    this.element.replaceChildren(...shown.map((n) => n.row));
    if (shown.length === 0) this.element.append(make("div", { class: "quiet", role: "treeitem" }, "No match."));
  }

  private key(event: KeyboardEvent) {
    const shown = this.visible();
    const at = shown.findIndex((n) => n.row === document.activeElement);
    const node = shown[at];
    if (!node) return;
    const keys: Record<string, () => void> = {
      ArrowDown: () => this.choose(shown[at + 1] ?? node),
      ArrowUp: () => this.choose(shown[at - 1] ?? node),
      ArrowRight: () => {
        node.open = true;
        this.draw();
        node.row.focus();
      },
      ArrowLeft: () => {
        if (node.open && node.children.length > 0) {
          node.open = false;
          this.draw();
          node.row.focus();
        } else if (node.parent) this.choose(node.parent);
      },
      Enter: () => this.choose(node),
    };
    const action = keys[event.key];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  }
}
