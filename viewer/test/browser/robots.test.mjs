// Robots made by others: meshes, colours and textures, live and as stills; what happens where files are missing or broken.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { accessibility, kansetsu, launch, openPage, placeOf, ready, root, shot, stopAll, timeOf, until, view } from "./support.mjs";

const validator = createRequire(import.meta.url)("gltf-validator");
const data = process.env.KANSETSU_DATA_DIR ?? path.join(root, "../shared/data");
const robots = ["iit_softfoot/softfoot.xml", "low_cost_robot_arm/low_cost_robot_arm.xml", "robotiq_2f85/2f85.xml", "skydio_x2/x2.xml", "umi_gripper/umi_gripper.xml", "wonik_allegro/right_hand.xml"]
  .map((name) => path.join(data, "robots/mjcf_meshes", name));
const skip = !fs.existsSync(robots[0]) && "the files of other robots are not here";

const standing = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "kansetsu-")), "standing.toml");
fs.writeFileSync(standing, fs.readFileSync(path.join(root, "examples/scenes/standing.toml"), "utf8").replace("duration = 5.0", "duration = 600.0"));

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

/** What is drawn: triangles of meshes from files, and how many materials have a picture. */
const drawn = () =>
  page.evaluate(() => {
    let triangles = 0, textures = 0;
    window.kansetsu.stage.scene.traverse((o) => {
      if (!o.isInstancedMesh || !o.geometry.attributes.position || o.material.isShadowMaterial) return;
      triangles += (o.geometry.index?.count ?? o.geometry.attributes.position.count) / 3;
      textures += o.material.map ? 1 : 0;
    });
    return { triangles, textures };
  });

describe("live robots with meshes", { skip }, () => {
  for (const robot of robots) {
    const name = path.basename(path.dirname(robot));
    it(name, async () => {
      page = await openPage(browser, await view(robot, "--live"));
      await ready(page);
      const { triangles, textures } = await drawn();
      assert.ok(triangles > 5000, `${triangles} triangles`);
      if (name === "skydio_x2" || name === "umi_gripper") assert.ok(textures > 0, "a texture is shown");
      assert.ok(await page.locator("#warning").isHidden(), "nothing is missing");
      const start = await timeOf(page);
      await until(page, (t) => Number(document.documentElement.dataset.time) > t, start + 0.05, 60000);
      await shot(page, `robot-${name}`);
    });
  }
});

it("what leaves the first view is looked at again, until the camera is moved by hand", async () => {
  page = await openPage(browser, await view(standing, "--live"));
  await ready(page);
  /** The camera looks past everything: what a robot that sinks does to the first view. */
  const lookAside = () => page.evaluate(() => window.kansetsu.stage.follow(window.kansetsu.stage.controls.target.clone().set(0, 0, 2)));
  /** How far from the middle of the picture the trunk is: 1 is its edge. */
  const off = async () => {
    await page.waitForTimeout(1500); // it looks every half second, if pictures come in time
    const [x, y] = await placeOf(page, "UpperBody"), box = await page.locator("#canvas").boundingBox();
    return Math.max(Math.abs((2 * (x - box.x)) / box.width - 1), Math.abs((2 * (y - box.y)) / box.height - 1));
  };
  await lookAside();
  assert.ok((await off()) < 0.5, "it looks again");
  await page.locator("#canvas").focus();
  await page.keyboard.press("3"); // from the side
  await lookAside();
  assert.ok((await off()) > 1, "it stays where it was put");
});

it("a gripper closes by the slider of its actuator", { skip }, async () => {
  page = await openPage(browser, await view(robots.find((name) => name.includes("robotiq")), "--live"));
  await ready(page);
  const gap = () =>
    page.evaluate(() => {
      const { figure, poses } = window.kansetsu.kinematics[0];
      const [a, b] = ["left_pad", "right_pad"].map((name) => poses[figure.links.findIndex((l) => l.name === name)].elements);
      return Math.hypot(...[12, 13, 14].map((i) => a[i] - b[i]));
    });
  const open = await gap();
  await page.getByLabel("fingers_actuator").fill("255");
  const start = await timeOf(page);
  await until(page, (t) => Number(document.documentElement.dataset.time) > t, start + 1.5, 60000);
  assert.ok((await gap()) < open / 2, `${open} m open, then ${await gap()} m`);
  await shot(page, "gripper-closed");
});

it("glTF files of robots with meshes pass the validator of Khronos", { skip }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kansetsu-"));
  for (const robot of robots) {
    const file = path.join(folder, `${path.basename(robot)}.glb`);
    execFileSync(kansetsu, ["simulate", robot, "--duration", "0.1", "--allow-partial", "--record", file], { stdio: "ignore" });
    const { issues } = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
    assert.deepEqual([issues.numErrors, issues.numWarnings], [0, 0], robot);
  }
});

const URDF = `<robot name="armless">
  <link name="base"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://lost_description/meshes/base.stl"/></geometry></visual>
    <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="arm"><inertial><origin xyz="0 0 0.3"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://lost_description/meshes/arm.stl"/></geometry></visual></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>`;

it("missing meshes are named, and other shapes stand in", async () => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "kansetsu-")), "armless.urdf");
  fs.writeFileSync(file, URDF);
  for (const live of [[], ["--live"]]) {
    page = await openPage(browser, await view(file, ...live), { bypassCSP: true });
    await ready(page);
    const text = await page.locator("#warning").textContent();
    assert.match(text, /2 mesh files are missing.*base\.stl.*arm\.stl.*--package-path/s);
    assert.ok((await drawn()).triangles > 12, "the box of the base and a capsule for the arm");
    await shot(page, `missing${live.length ? "-live" : ""}`);
    assert.deepEqual(await accessibility(page), []);
    await page.getByRole("button", { name: "Close the warning" }).click();
    assert.ok(await page.locator("#warning").isHidden());
    if (live.length === 0) {
      assert.deepEqual(page.problems, []);
      await page.context().close();
    }
  }
});

it("a broken file that is dropped leaves the page as it was", async () => {
  page = await openPage(browser, await view("human28"));
  await ready(page);
  const drop = (bytes, name) =>
    page.evaluate(([data, file]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(data)], file));
      window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, [bytes, name]);
  await drop([1, 2, 3, 4], "broken.mcap");
  await page.locator("#warning").waitFor();
  assert.match(await page.locator("#warning").textContent(), /broken\.mcap cannot be shown.*REC002/s);
  assert.ok(await page.locator("#tree").isVisible() && (await drawn()).triangles > 100, "the model is still there");
  await shot(page, "dropped-broken");
});

it("the view fits, follows a slider, and finds channels by a few letters", async () => {
  page = await openPage(browser, await view(standing, "--live"));
  await ready(page);
  await page.locator("#canvas").focus();
  const distance = () => page.evaluate(() => window.kansetsu.stage.camera.position.distanceTo(window.kansetsu.stage.controls.target));
  const [x, y] = await placeOf(page, "UpperBody");
  await page.mouse.click(x, y);
  await until(page, () => document.documentElement.dataset.selected !== "");
  const far = await distance();
  await page.locator("#canvas").focus();
  await page.keyboard.press("f");
  assert.ok((await distance()) < far, "nearer to the selected link");
  await page.keyboard.press("p");
  await page.locator("#channel").fill("knee tau");
  await page.keyboard.press("Enter");
  await page.locator(".plot b").first().waitFor();
  assert.match(await page.locator(".plot b").first().textContent(), /tau\/knee/);
  assert.equal(await page.locator(".plot header .quiet").first().textContent(), "N m");
  await shot(page, "live-plot");
});

it("a running world is taken back, and goes on from there", async () => {
  page = await openPage(browser, await view(standing, "--live"));
  await ready(page);
  await until(page, () => Number(document.documentElement.dataset.time) > 1.2, null, 60000);
  await page.locator("#canvas").focus();
  await page.keyboard.press(" ");
  await page.waitForTimeout(300);
  const stopped = await timeOf(page);
  await page.locator("#time").fill("0.5");
  await until(page, () => Math.abs(Number(document.documentElement.dataset.time) - 0.5) < 0.06);
  await page.locator("#canvas").focus();
  await page.keyboard.press(" ");
  await until(page, () => Number(document.documentElement.dataset.time) > 0.6, null, 60000);
  assert.ok((await timeOf(page)) < stopped, "it runs on from where it was taken back to");
});

it("phone width and dark", async () => {
  page = await openPage(browser, await view(standing, "--live"), { viewport: { width: 390, height: 780 }, colorScheme: "dark", bypassCSP: true });
  await ready(page);
  await shot(page, "phone-dark");
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
  assert.deepEqual(await accessibility(page), []);
});
