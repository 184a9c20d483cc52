import { Color } from "three";

/** Colours of the light and dark look. Data colours are the colour-blind safe palette of Okabe and Ito. */
export type Look = "dark" | "light";

export const DATA_COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#999999"];
export const CONTACT = new Color("#d55e00"), CONNECTION = new Color("#009e73"), COM = new Color("#e69f00"), COP = new Color("#cc79a7"), JOINT = new Color("#56b4e9"),
  SLIDE = new Color("#009e73"), IMPACT = new Color("#d6336c");

export interface StageColors {
  top: Color;
  bottom: Color;
  grid: Color;
  ground: Color;
  shadow: number;
  highlight: Color;
}
export const STAGE: Record<Look, StageColors> = {
  light: { top: new Color("#e9eef4"), bottom: new Color("#fafbfc"), grid: new Color("#8b98a8"), ground: new Color("#f1f3f6"), shadow: 0.3, highlight: new Color("#e69f00") },
  dark: { top: new Color("#10151d"), bottom: new Color("#1d2530"), grid: new Color("#7587a0"), ground: new Color("#1a212b"), shadow: 0.55, highlight: new Color("#f0b429") },
};

export function storedLook(): Look {
  const stored = (() => {
    try {
      return localStorage.getItem("kansetsu-look");
    } catch {
      return null; // pages opened from files may have no storage
    }
  })();
  if (stored === "dark" || stored === "light") return stored;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function storeLook(look: Look) {
  try {
    localStorage.setItem("kansetsu-look", look);
  } catch {
    // the choice is not stored
  }
}
