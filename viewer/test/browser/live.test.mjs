// A world that runs, and hands that touch it.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, afterEach, before, it } from "node:test";
import { accessibility, launch, openPage, placeOf, ready, root, shot, stopAll, timeOf, until, view } from "./support.mjs";

// The example, but it lasts: on a slow machine the tests take longer than its five seconds.
const standing = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "kansetsu-")), "standing.toml");
const example = fs.readFileSync(path.join(root, "examples/scenes/standing.toml"), "utf8");
fs.writeFileSync(standing, example.replace("duration = 5.0", "duration = 600.0"));

let browser, page;
before(async () => {
  browser = await launch();
});
afterEach(async () => {
  const problems = page?.problems;
  await page?.context().close();
  page = undefined;
  assert.deepEqual(problems ?? [], []);
});
after(async () => {
  await browser?.close();
  await stopAll();
});

/** Where a link is in the world. */
const linkAt = (name) =>
  page.evaluate((wanted) => {
    const figure = window.kansetsu.kinematics[0];
    return [...figure.poses[figure.figure.links.findIndex((l) => l.name === wanted)].elements.slice(12, 15)];
  }, name);
const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const passes = async (seconds) => {
  const start = await timeOf(page);
  await until(page, (t) => Number(document.documentElement.dataset.time) > t, start + seconds, 60000);
};

const restart = async () => {
  const before = await timeOf(page);
  await page.getByRole("button", { name: "Restart" }).click();
  await until(page, (t) => window.kansetsu.past.end < t && Number(document.documentElement.dataset.time) < t, before, 60000);
};
/** Until everything that came has been shown. */
const shown = () => until(page, () => !window.kansetsu.playing && window.kansetsu.time === window.kansetsu.past.end, null, 60000);

it("a world streams, pauses and steps", async () => {
  page = await openPage(browser, await view(standing, "--live"), { bypassCSP: true });
  await ready(page);
  assert.match(await page.title(), /standing/);
  await passes(0.3);
  assert.ok((await linkAt("Body"))[2] > 0.8, "it stands");
  await page.getByRole("button", { name: "Pause" }).waitFor();
  assert.match(await page.locator("#legend").textContent(), /contact force, 1 m = 1 kN/);
  assert.deepEqual(await accessibility(page), []);
  await shot(page, "live");
  await page.locator("#canvas").focus();
  await page.keyboard.press(" ");
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  await page.waitForTimeout(300);
  await shown();
  const stopped = await timeOf(page);
  await page.waitForTimeout(300);
  assert.equal(await timeOf(page), stopped);
  await page.keyboard.press("ArrowRight");
  await until(page, (t) => Number(document.documentElement.dataset.time) > t, stopped);
  assert.ok(Math.abs((await timeOf(page)) - stopped - 1 / 60) < 2e-3, "a sixtieth of a second, in whole steps");
});

it("a body follows the mouse, and is let go", async () => {
  page = await openPage(browser, await view(standing, "--live"));
  await ready(page);
  await passes(0.1);
  const start = await linkAt("UpperBody");
  const [x, y] = await placeOf(page, "UpperBody");
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= 15; ++i) {
    await page.mouse.move(x + 10 * i, y - 2 * i);
    await passes(0.03);
  }
  await until(page, () => window.kansetsu.frame.connections.some((c) => c.name === "drag"));
  await shot(page, "live-drag");
  assert.ok(distance(await linkAt("UpperBody"), start) > 0.1, "it followed");
  await page.mouse.up();
  await until(page, () => !window.kansetsu.frame.connections.some((c) => c.name === "drag"));
  await restart();
  await passes(0.1);
  assert.ok(distance(await linkAt("UpperBody"), start) < 0.02, "as it was");
});

it("a body is held by a double click and hangs; H releases it and it falls", async () => {
  page = await openPage(browser, await view(standing, "--live"));
  await ready(page);
  await passes(0.1);
  const start = await linkAt("UpperBody");
  await page.mouse.dblclick(...(await placeOf(page, "UpperBody")));
  await page.getByText("Held").waitFor();
  await until(page, () => window.kansetsu.frame.connections.some((c) => c.name === "grip"));
  await page.getByLabel("posture", { exact: true }).fill("0"); // limp
  await passes(1.5);
  await shot(page, "live-held");
  assert.ok(distance(await linkAt("UpperBody"), start) < 0.3, `it hangs: ${await linkAt("UpperBody")}`);
  await page.locator("#canvas").focus();
  await page.keyboard.press("h");
  await page.getByText("Released").waitFor();
  await passes(1.2);
  assert.ok((await linkAt("UpperBody"))[2] < start[2] - 0.4, "it fell");
});

it("gravity is changed by its slider", async () => {
  page = await openPage(browser, await view(standing, "--live"));
  await ready(page);
  await page.getByLabel("posture", { exact: true }).fill("0");
  await page.getByLabel("gravity").fill("0");
  await restart();
  const start = await linkAt("UpperBody");
  await passes(1);
  assert.ok(distance(await linkAt("UpperBody"), start) < 0.3, "limp, and it does not fall");
});

it("the end of the simulation is told", async () => {
  const url = await view(standing, "--live");
  page = await openPage(browser, url);
  await ready(page);
  await stopAll();
  await page.getByText("The simulation has ended.").waitFor();
  page.problems.length = 0; // Chromium may report the connection that broke
});
