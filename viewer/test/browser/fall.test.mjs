// A fall that is played back: events on the time line, impulses in plots, a camera that follows and goes home; dark, with shadows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, it } from "node:test";
import { kansetsu, launch, openPage, ready, root, shot, stopAll, until, view } from "./support.mjs";

const scratch = mkdtempSync(path.join(os.tmpdir(), "kansetsu-"));
let browser, page;
before(async () => {
  const file = path.join(scratch, "fall.mcap");
  execFileSync(kansetsu, ["simulate", path.join(root, "examples/scenes/fall.toml"), "--duration", "1.5", "--rate", "100", "--record", file], { stdio: "ignore" });
  browser = await launch();
  page = await openPage(browser, await view(file), { colorScheme: "dark" });
  await ready(page);
});
after(async () => {
  assert.deepEqual(page?.problems ?? [], []);
  await browser?.close();
  await stopAll();
  rmSync(scratch, { recursive: true });
});

/** How many pixels of a canvas have nearly the colour. */
const count = (selector, [r, g, b]) =>
  page.evaluate(([wanted, red, green, blue]) => {
    const canvas = document.querySelector(wanted);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) found += data[i + 3] > 128 && Math.abs(data[i] - red) + Math.abs(data[i + 1] - green) + Math.abs(data[i + 2] - blue) < 60 ? 1 : 0;
    return found;
  }, [selector, r, g, b]);
const camera = () => page.evaluate(() => ({ eye: window.kansetsu.stage.camera.position.toArray(), target: window.kansetsu.stage.controls.target.toArray() }));
const apart = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));

it("touchdown and lift-off are marked on the time line", async () => {
  await until(page, () => document.getElementById("time").title !== "", null, 60000);
  assert.match(await page.locator("#time").getAttribute("title"), /touch/);
  assert.ok((await count("#marks", [213, 94, 0])) > 20, "orange triangles");
});

it("impulses of impacts are stems in the plot of the force, with their number and unit", async () => {
  await page.keyboard.press("p");
  const add = page.getByLabel("Add a channel to plot");
  await add.fill("contact force z");
  await add.press("Enter");
  await page.locator(".plot b").first().waitFor();
  await page.evaluate(() => window.kansetsu.seek(1.0));
  await page.waitForTimeout(1500);
  assert.equal(await page.locator(".plot header .quiet").first().textContent(), "N");
  await shot(page, "fall-dark-plot");
  const impulses = await page.evaluate(() => window.kansetsu.plots.rows[0].series.impulses.length);
  assert.ok(impulses > 0, "the hands land with an impact");
  await page.locator("#canvas").focus();
  await page.keyboard.press("p");
});

it("the camera follows, fits and goes home", async () => {
  await page.locator("#canvas").focus();
  await page.evaluate(() => window.kansetsu.seek(0));
  await page.keyboard.press("0");
  const home = await camera();
  await page.keyboard.press("v");
  assert.equal(await page.locator("#follow").getAttribute("aria-pressed"), "true");
  await page.evaluate(() => window.kansetsu.seek(1.4));
  const followed = await camera();
  assert.ok(apart(followed.target, home.target) > 0.2, "it went along");
  assert.ok(Math.abs(apart(followed.eye, followed.target) - apart(home.eye, home.target)) < 1e-6, "from the same distance"); // both move by the same vector
  await page.keyboard.press("v");
  await page.keyboard.press("f");
  assert.ok(apart((await camera()).eye, followed.eye) > 0.1, "nearer to what lies on the floor");
  await page.waitForTimeout(1500);
  await shot(page, "fall-dark");
  await page.evaluate(() => window.kansetsu.seek(0));
  await page.keyboard.press("0");
  assert.ok(apart((await camera()).target, home.target) < 1e-6, "home"); // the same box of the same frames
});
