// Reading a QR code, such as on a printed card with a key, from a picture or with the camera. Nothing is sent anywhere.
import decode from "qr/decode.js";
import { $, el } from "./dom.ts";
import { t } from "./words.ts";

const SIDE = 1280; // pixels of the longer side of the picture that is decoded

// read gives the text of a code in a picture, null for none.
function read(from: CanvasImageSource, width: number, height: number): string | null {
  const scale = Math.min(1, SIDE / Math.max(width, height)), canvas = document.createElement("canvas"), pen = canvas.getContext("2d", { willReadFrequently: true });
  if (!pen || width === 0 || height === 0) return null;
  canvas.width = Math.max(1, width * scale);
  canvas.height = Math.max(1, height * scale);
  pen.drawImage(from, 0, 0, canvas.width, canvas.height);
  try {
    return decode(pen.getImageData(0, 0, canvas.width, canvas.height));
  } catch {
    return null; // no code in it
  }
}

// ofPicture gives the text of the code in a file, null if it has none or is no picture.
export async function ofPicture(file: File): Promise<string | null> {
  try {
    const picture = await createImageBitmap(file);
    return read(picture, picture.width, picture.height);
  } catch {
    return null;
  }
}

export const hasCamera = () => navigator.mediaDevices?.getUserMedia !== undefined;

// scan shows the camera's picture until it has a code or the reader stops. It gives the text of the code, or null.
export async function scan(): Promise<string | null> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  const video = el("video", { playsinline: "", muted: "" }) as HTMLVideoElement, stop = el("button", { type: "button", class: "plain" }, t.stop);
  let over = false;
  stop.addEventListener("click", () => { over = true; });
  $("camera").replaceChildren(video, stop);
  try {
    video.srcObject = stream;
    await video.play();
    for (; !over; await new Promise((next) => setTimeout(next, 100))) {
      const text = read(video, video.videoWidth, video.videoHeight);
      if (text !== null) return text;
    }
    return null;
  } finally {
    for (const track of stream.getTracks()) track.stop();
    $("camera").replaceChildren();
  }
}
