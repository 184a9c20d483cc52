import { ViewerError } from "./bytes";
import { LiveFrames, type LiveFrame } from "./live_frame";
import { parseScene, type Scene } from "./scene";

/** A remote simulation as a stream (docs/formats/live.md): text messages are JSON, binary ones are frames or changes since the previous frame. */

export interface Control {
  name: string;
  min: number;
  max: number;
  value: number;
  unit?: string;
}
export interface Hello {
  type: "hello";
  version: number;
  scene: unknown;
  playing: boolean;
  recording?: boolean;
  gravity: [number, number, number];
  controls: Control[];
}
export type Command =
  | { type: "play" } | { type: "pause" } | { type: "step" } | { type: "reset" } | { type: "rewind"; time: number } | { type: "record"; on: boolean }
  | { type: "speed"; value: number }
  | { type: "drag"; figure: number; link: number; point: number[]; target: number[] } | { type: "drop" }
  | { type: "grab"; figure: number; link: number; point: number[] } | { type: "release"; figure: number; link: number }
  | { type: "gravity"; value: number[] } | { type: "control"; name: string; value: number };

export const LIVE_VERSION = 2;

export class Live {
  scene!: Scene;
  hello!: Hello;
  playing = true;
  recording = false;
  onFrame: (frame: LiveFrame) => void = () => undefined;
  onState: () => void = () => undefined;
  onProblem: (message: string) => void = () => undefined;
  onClose: (reason: string) => void = () => undefined;

  private frames!: LiveFrames;

  private constructor(private readonly socket: WebSocket) {}

  static open(url: string): Promise<Live> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url);
      socket.binaryType = "arraybuffer";
      const live = new Live(socket);
      socket.onerror = () => reject(new ViewerError("The simulation cannot be reached.", "Is it still running?"));
      socket.onclose = (event) => live.onClose(event.reason);
      socket.onmessage = (event) => {
        if (event.data instanceof ArrayBuffer) {
          live.onFrame(live.frames.next(new Uint8Array(event.data)));
          return;
        }
        const message = JSON.parse(String(event.data)) as { type: string; playing?: boolean; recording?: boolean; message?: string };
        if (message.type === "hello") {
          live.hello = message as unknown as Hello;
          if (live.hello.version > LIVE_VERSION) {
            reject(new ViewerError("The simulation speaks a newer protocol.", "Reload the page."));
            return;
          }
          try {
            live.scene = parseScene(JSON.stringify(live.hello.scene));
            live.frames = new LiveFrames(live.scene);
          } catch (error) {
            reject(error as Error);
            return;
          }
          live.playing = live.hello.playing;
          live.recording = live.hello.recording ?? false;
          resolve(live);
        } else if (message.type === "state") {
          live.playing = message.playing ?? live.playing;
          live.recording = message.recording ?? false;
          live.onState();
        } else if (message.type === "problem") live.onProblem(message.message ?? "");
      };
    });
  }

  /** A file of the scene, from the server of the simulation. */
  async attachment(name: string): Promise<Uint8Array | undefined> {
    const url = new URL(this.socket.url);
    const answer = await fetch(`/${name}${url.search}`);
    return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : undefined;
  }

  /** The next frame, for callers that need one before they subscribe. */
  firstFrame(): Promise<LiveFrame> {
    return new Promise((resolve) => (this.onFrame = resolve));
  }

  send(command: Command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
}
