import { make } from "./dom";

/** Fuzzy search in a long list by letters in order: "hipt" finds "walker/tau/hipL_y". */

/** The score of a name for a query; undefined if it does not match. Fewer and earlier gaps score better, beginnings of words too. */
export function fit(wanted: string, name: string): number | undefined {
  const text = name.toLowerCase();
  let score = 0;
  for (const word of wanted.toLowerCase().split(/\s+/).filter(Boolean)) {
    const whole = text.indexOf(word);
    if (whole >= 0) {
      score += 100 - Math.min(whole, 50) + (whole === 0 || /[^a-z0-9]/.test(text[whole - 1]!) ? 20 : 0);
      continue;
    }
    let at = -1, gaps = 0;
    for (const letter of word) {
      const next = text.indexOf(letter, at + 1);
      if (next < 0) return undefined;
      if (at >= 0) gaps += next - at - 1;
      at = next;
    }
    score += 40 - Math.min(gaps, 40);
  }
  return score - 0.01 * text.length;
}

export function best(wanted: string, names: string[], count: number): string[] {
  const found = names.flatMap((name) => {
    const score = fit(wanted, name);
    return score === undefined ? [] : [{ name, score }];
  });
  return found.sort((a, b) => b.score - a.score).slice(0, count).map((f) => f.name);
}

const SHOWN = 60;

/** Turns an input field into a chooser: a list below it, arrows and Enter, or a click. */
export function makeChooser(input: HTMLInputElement, list: HTMLElement, names: () => string[], choose: (name: string) => void) {
  let found: string[] = [], marked = 0;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (name: string | undefined) => {
    if (!name) return;
    input.value = "";
    close();
    choose(name);
  };
  const mark = (index: number) => {
    marked = Math.max(0, Math.min(found.length - 1, index));
    [...list.children].forEach((element, i) => {
      element.setAttribute("aria-selected", String(i === marked));
      if (i === marked) element.scrollIntoView({ block: "nearest" });
    });
    if (found.length > 0) input.setAttribute("aria-activedescendant", `channel-${marked}`);
  };
  const show = () => {
    found = best(input.value, names(), SHOWN);
    list.replaceChildren(...found.map((name, i) => make("li", { role: "option", id: `channel-${i}`, onpointerdown: (event: Event) => {
      event.preventDefault(); // the field keeps the focus
      take(name);
    } }, name)));
    if (found.length === 0) list.replaceChildren(make("li", { role: "option", "aria-disabled": "true", class: "quiet" }, "nothing is called so"));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark(0);
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") mark(marked + 1);
    else if (event.key === "ArrowUp") mark(marked - 1);
    else if (event.key === "Enter") take(found[marked]);
    else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
