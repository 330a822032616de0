// The page around the verifier.
import { $, el, input } from "./dom.ts";
import { check, named, remember, remembered, say, scanned, take } from "./input.ts";
import { follow, onTable, readLink, served } from "./link.ts";
import { hasCamera } from "./qr.ts";
import { state } from "./state.ts";
import { watch } from "./table.ts";
import { LANGUAGES, preferred, speak } from "./words.ts";

$("language").append(...Object.entries(LANGUAGES).map(([code, { name }]) => el("option", { value: code, lang: code }, name)));
speak(preferred());
$("language").addEventListener("change", () => {
  speak(input("language").value);
  say("");
  named();
  state.link?.();
  state.result?.();
});
$("form").hidden = false; // without JavaScript it would have no words
$("form").addEventListener("submit", (e) => { e.preventDefault(); check(); });
$("file").addEventListener("click", () => { input("file").value = ""; }); // so that the same file can be chosen again
$("file").addEventListener("change", () => take([...input("file").files ?? []]));
$("trust").addEventListener("input", () => { state.keyOfLink = false; if (served) remember(); });
$("remember").addEventListener("change", remember);
$("remember").parentElement!.hidden = !served;
$("scan").hidden = !hasCamera();
$("scan").addEventListener("click", scanned);
if (served) remembered();
$("slot").addEventListener("input", () => { state.slotOfLink = false; $("slot").removeAttribute("aria-invalid"); });
$("text").addEventListener("input", () => { if (input("text").value !== "") { state.chosen = null; input("file").value = ""; $("name").textContent = ""; $("link").hidden = true; } });
$("text").addEventListener("paste", () => setTimeout(check));
window.addEventListener("hashchange", () => {
  input("slot").value = ""; // the value is for one shuffle
  state.slotOfLink = false;
  follow(readLink());
});
$("served").hidden = !served;
onTable(watch);
follow(readLink());

for (const type of ["dragenter", "dragover"]) document.addEventListener(type, (e) => { e.preventDefault(); $("drop").classList.add("over"); });
for (const type of ["dragleave", "drop"]) document.addEventListener(type, () => $("drop").classList.remove("over"));
document.addEventListener("drop", (e) => {
  const files = e.dataTransfer?.files;
  if (e.target instanceof HTMLTextAreaElement && !files?.length) return;
  e.preventDefault();
  if (!files?.length) return;
  input("file").files = files;
  take([...files]);
});
