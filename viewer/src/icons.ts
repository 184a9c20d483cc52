/** Line drawings on a 24 × 24 grid. */
const PATHS: Record<string, string> = {
  panel: "M4 5h16v14H4zM10 5v14",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z",
  plot: "M4 4v16h16M7 15l4-5 3 3 5-7",
  look: "M12 3.5a8.5 8.5 0 1 0 0 17zM12 3.5a8.5 8.5 0 0 1 0 17",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.6 9.4c.2-1.5 1.2-2.2 2.5-2.2 1.4 0 2.4.8 2.4 2.1 0 1.9-2.4 2-2.4 4.1M12 16.8v.1",
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M8 6h2.6v12H8zM13.4 6H16v12h-2.6z",
  back: "M18 6l-8 6 8 6zM7 6v12",
  ahead: "M6 6l8 6-8 6zM17 6v12",
  loop: "M17 3.5l3 3-3 3M4 11V9.5a3 3 0 0 1 3-3h13M7 20.5l-3-3 3-3M20 13v1.5a3 3 0 0 1-3 3H4",
  follow: "M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 2.5v4M12 17.5v4M2.5 12h4M17.5 12h4",
  close: "M6 6l12 12M18 6L6 18",
};

export function icon(name: string): string {
  return `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${PATHS[name] ?? ""}"/></svg>`;
}

export function setIcon(button: Element, name: string) {
  button.innerHTML = icon(name);
}
