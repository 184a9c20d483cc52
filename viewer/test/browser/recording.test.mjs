// A recording in a real browser. node --test viewer/test/browser runs all of these; script/check viewer does.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { accessibility, launch, looksLike, openPage, placeOf, ready, recordings, shot, stopAll, timeOf, until, view } from "./support.mjs";

const squat = path.join(recordings, "squat.mcap");
const selected = (page) => page.evaluate(() => document.documentElement.dataset.selected ?? "");
const timeIs = (page, time) => until(page, (t) => Math.abs(Number(document.documentElement.dataset.time) - t) < 1e-6, time);

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

describe("a recording", () => {
  let url;
  before(async () => {
    url = await view(squat);
  });

  it("loads and shows a figure", async () => {
    page = await openPage(browser, url);
    await ready(page);
    assert.match(await page.title(), /A squat/);
    await page.waitForTimeout(1200); // until the fine picture
    await looksLike(page, "squat-light");
    await page.keyboard.press("d");
    await page.waitForTimeout(1200);
    await looksLike(page, "squat-dark");
  });

  it("plays, pauses, steps, scrubs and loops", async () => {
    page = await openPage(browser, url);
    await ready(page);
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await until(page, () => Number(document.documentElement.dataset.time) > 0.2);
    await page.getByRole("button", { name: "Pause" }).click();
    const paused = await timeOf(page);
    await page.waitForTimeout(200);
    assert.equal(await timeOf(page), paused);
    await page.keyboard.press("Home");
    await timeIs(page, 0);
    await page.keyboard.press("ArrowRight");
    await timeIs(page, 0.016667); // one frame
    await page.keyboard.press("ArrowLeft");
    await timeIs(page, 0);
    await page.getByLabel("Time").fill("2.5");
    await timeIs(page, 2.5);
    assert.equal(await page.locator("#clock").textContent(), "2.500 s");
    const track = await page.getByLabel("Time").boundingBox();
    await page.mouse.move(track.x + track.width * 0.625, track.y + track.height / 2);
    await page.mouse.down();
    await page.mouse.move(track.x + track.width * 0.25, track.y + track.height / 2, { steps: 5 });
    await page.mouse.up();
    await until(page, () => Math.abs(Number(document.documentElement.dataset.time) - 1) < 0.05);
    await page.locator("#canvas").focus();
    await page.keyboard.press("End");
    await until(page, () => Number(document.documentElement.dataset.time) >= 3.999);
    await page.keyboard.press("+");
    assert.equal(await page.locator("#speed").inputValue(), "2");
    await page.evaluate(() => window.kansetsu.seek(3.9));
    await page.keyboard.press(" ");
    await until(page, () => Number(document.documentElement.dataset.time) < 1);
    await page.keyboard.press("l"); // no loop: it stops at the end
    await until(page, () => !window.kansetsu.playing);
    await timeIs(page, 4);
  });

  it("selects by a click, by search and by the tree's keys", async () => {
    page = await openPage(browser, url);
    await ready(page);
    await page.mouse.click(...(await placeOf(page, "UpperBody")));
    assert.equal(await selected(page), "UpperBody");
    await page.keyboard.press("Escape");
    assert.equal(await selected(page), "");
    await page.keyboard.press("/");
    await page.keyboard.type("lowerlegL");
    await page.keyboard.press("Enter");
    assert.equal(await selected(page), "LowerLegL");
    assert.ok(await page.locator("#details").getByText("kneeL_y").isVisible());
    await page.getByLabel("Search links and joints").fill("");
    await page.locator('[role="treeitem"][aria-selected="true"]').focus();
    await page.keyboard.press("ArrowUp");
    assert.equal(await selected(page), "UpperLegL");
    await page.waitForTimeout(1000);
    await looksLike(page, "selected");
  });

  it("plots a channel, and the plot scrubs", async () => {
    page = await openPage(browser, url);
    await ready(page);
    await page.keyboard.press("p");
    const add = page.getByLabel("Add a channel to plot");
    for (const name of ["com height", "human/q/kneeL_y"]) {
      await add.fill(name);
      await add.press("Enter");
    }
    await page.waitForTimeout(800);
    assert.equal(await page.locator(".plot").count(), 2);
    const plot = await page.locator(".plot canvas").first().boundingBox();
    await page.mouse.click(plot.x + plot.width * 0.6, plot.y + plot.height / 2);
    await until(page, () => Number(document.documentElement.dataset.time) > 1.8);
    await page.waitForTimeout(1000);
    await looksLike(page, "plots");
    const save = async (name) => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return readFileSync(await file.path(), "utf8");
    };
    const lines = (await save("CSV")).trim().split("\n");
    assert.equal(lines.length, 242);
    assert.equal(lines[0], "time,com height,human/q/kneeL_y");
    assert.match(await save("SVG"), /^<svg[^]*com height[^]*<\/svg>\s*$/);
    await page.getByRole("button", { name: "Remove com height" }).click();
    assert.equal(await page.locator(".plot").count(), 1);
  });

  it("shows axes, frames, centres, trails and a capsule body", async () => {
    page = await openPage(browser, url);
    await ready(page);
    for (const key of ["m", "j", "a", "t", "b"]) await page.keyboard.press(key);
    await page.keyboard.press("3");
    await page.evaluate(async () => {
      for (let t = 0; t <= 0.7; t += 0.05) await window.kansetsu.seek(t);
    });
    await page.waitForTimeout(1200);
    await looksLike(page, "overlays");
    await page.getByLabel("Display options").click();
    assert.ok(await page.getByLabel("Joint axes").isChecked());
    await shot(page, "menu");
  });

  it("has a help sheet, labels, contrast and focus", async () => {
    for (const look of ["light", "dark"]) {
      page = await openPage(browser, url, { colorScheme: look, bypassCSP: true });
      await ready(page);
      await page.keyboard.press("p");
      await page.keyboard.press("/");
      await page.keyboard.type("FootL");
      await page.keyboard.press("Enter");
      assert.deepEqual(await accessibility(page), [], look);
      await page.keyboard.press("?");
      assert.ok(await page.getByRole("dialog").isVisible());
      assert.deepEqual(await accessibility(page), [], `${look}, help`);
      await shot(page, `help-${look}`);
      await page.keyboard.press("Escape");
      assert.ok(!(await page.locator("#help").isVisible()));
      assert.deepEqual(page.problems, []);
      if (look === "light") await page.context().close();
    }
  });

  it("is reached by the Tab key, and shows where the focus is", async () => {
    page = await openPage(browser, url);
    await ready(page);
    const met = new Set();
    for (let i = 0; i < 24; ++i) {
      await page.keyboard.press("Tab");
      const { id, outline } = await page.evaluate(() => ({ id: document.activeElement.id, outline: getComputedStyle(document.activeElement).outlineStyle }));
      if (!id || met.has(id)) continue;
      met.add(id);
      assert.notEqual(outline, "none", `#${id} shows its focus`);
    }
    for (const id of ["side-button", "camera", "plots-button", "help-button", "search", "canvas", "play", "time", "speed", "loop"]) assert.ok(met.has(id), `Tab reaches #${id}`);
  });

  it("fits a phone", async () => {
    page = await openPage(browser, url, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
    await ready(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
    await shot(page, "phone");
    await page.getByLabel("Links panel").click();
    assert.ok(await page.locator("#tree").isVisible());
    await shot(page, "phone-links");
    await page.getByLabel("Links panel").click();
    await page.getByRole("button", { name: "Play", exact: true }).tap();
    await until(page, () => Number(document.documentElement.dataset.time) > 0.1);
  });
});

it("a hundred figures are drawn", async () => {
  page = await openPage(browser, await view(path.join(recordings, "crowd.mcap")));
  await ready(page);
  await page.waitForTimeout(1500);
  await looksLike(page, "crowd");
});

it("ten minutes are looked at without being loaded", async () => {
  const file = path.join(recordings, "long.mcap");
  page = await openPage(browser, null);
  let bytes = 0;
  page.on("response", (response) => {
    if (response.url().includes("/recording") && response.request().method() === "GET") bytes += Number(response.headers()["content-length"] ?? 0);
  });
  await page.goto(await view(file));
  await ready(page);
  for (const t of [431.5, 12.25, 599]) {
    await page.evaluate((time) => window.kansetsu.seek(time), t);
    await timeIs(page, t);
  }
  assert.ok(bytes > 0 && bytes < 0.1 * statSync(file).size, `${bytes} of ${statSync(file).size} bytes`);
});

it("other recordings: a somersault and a rope", async () => {
  for (const name of ["flight", "rope"]) {
    page = await openPage(browser, await view(path.join(recordings, `${name}.mcap`)));
    await ready(page);
    await page.evaluate(() => window.kansetsu.seek(0.6));
    await page.waitForTimeout(1000);
    await looksLike(page, name);
    assert.deepEqual(page.problems, []);
    if (name === "flight") await page.context().close();
  }
});
