import "./style.css";
import { App } from "./app";
import { BufferSource, HttpSource, ViewerError, type ByteSource } from "./bytes";
import { byId, make, showWarning } from "./dom";
import { setIcon } from "./icons";
import { Live } from "./live";
import { makeFilm, makePicture, orderOf } from "./picture";
import { Recording } from "./recording";
import { Stage } from "./stage";
import { storedLook } from "./theme";

/** Determines what to show: a recording embedded in this page or on its server, a running simulation, or a dropped file. */

declare global {
  interface Window {
    kansetsu?: App; // for tests and debugging
  }
}

const query = new URLSearchParams(location.search);
const token = query.get("token") ?? "";

function fail(error: unknown) {
  const known = error instanceof ViewerError;
  const text = known ? error.message : `Something went wrong: ${String(error instanceof Error ? error.message : error)}`;
  const box = make("div", {}, make("h2", {}, text));
  if (known && error.hint) box.append(make("p", {}, error.hint));
  if (known && error.code) box.append(make("p", {}, make("code", {}, error.code)));
  box.append(make("p", { class: "quiet" }, "Drop a recording (.mcap) here to open it."));
  const failure = byId("failure");
  failure.replaceChildren(box);
  failure.hidden = false;
  byId("app").classList.add("failed");
  document.documentElement.dataset["failed"] = text;
  if (query.has("picture")) void fetch(`/failed?token=${encodeURIComponent(token)}`, { method: "POST", body: text });
}

function embedded(): ByteSource | undefined {
  const element = document.getElementById("recording");
  if (!element) return undefined;
  const text = atob((element.textContent ?? "").trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return new BufferSource(bytes, element.dataset["name"] ?? "recording");
}

/** The original page, to start again. */
const fresh = byId("app").cloneNode(true);

async function show(recording: Recording | undefined, live: Live | undefined) {
  window.kansetsu?.stop();
  if (window.kansetsu) byId("app").replaceWith(fresh.cloneNode(true));
  byId("failure").hidden = true;
  byId("app").classList.remove("failed");
  const app = new App(recording, live, new Stage(byId<HTMLCanvasElement>("canvas")));
  window.kansetsu = app;
  await app.start();
}

async function start() {
  document.documentElement.dataset["look"] = storedLook();
  for (const element of document.querySelectorAll<HTMLElement>("[data-icon]")) setIcon(element, element.dataset["icon"]!);
  const inside = embedded();
  if (inside) return show(await Recording.open(inside), undefined);
  if (!token) throw new ViewerError("There is nothing to show yet.", "Start 'kansetsu view FILE', or drop a recording onto this page.");
  const answer = await fetch(`/info?token=${encodeURIComponent(token)}`);
  if (!answer.ok) throw new ViewerError("The server does not know this page.", "Open the address that 'kansetsu view' printed.");
  const info = (await answer.json()) as { name: string; live: boolean };
  if (info.live) return show(undefined, await Live.open(`ws://${location.host}/live?token=${encodeURIComponent(token)}`));
  const recording = await Recording.open(new HttpSource(`/recording?token=${encodeURIComponent(token)}`, info.name));
  const order = orderOf(query);
  if (!order) return show(recording, undefined);
  byId("app").classList.add("picture");
  const canvas = byId<HTMLCanvasElement>("canvas");
  const post = (path: string, body?: Blob) => fetch(`/${path}?token=${encodeURIComponent(token)}`, { method: "POST", body: body ?? "" });
  if (order.video > 0) {
    await makeFilm(recording, canvas, order, (picture) => post("picture", picture));
    await post("finished");
  } else await post("picture", await makePicture(recording, canvas, order));
}

/** Dropped files replace the present content. */
function acceptDrops() {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    void (async () => {
      try {
        const recording = await Recording.open(new BufferSource(new Uint8Array(await file.arrayBuffer()), file.name));
        if (recording.chunks.length === 0) throw new ViewerError("The recording has no frames.", "", "REC012");
        await show(recording, undefined);
      } catch (error) {
        if (!window.kansetsu) fail(error);
        else if (error instanceof ViewerError) showWarning(`${file.name} cannot be shown.`, `${error.message} ${error.hint}`, error.code);
        else showWarning(`${file.name} cannot be shown.`, String(error));
      }
    })();
  });
}

acceptDrops();
start().catch(fail);
