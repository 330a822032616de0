// The page around the verifier.
import { $, el } from "./dom.ts";
import { check, take } from "./input.ts";
import { follow, readLink, served } from "./link.ts";
import { state } from "./state.ts";

$("form").addEventListener("submit", (e) => { e.preventDefault(); check(); });
$("file").addEventListener("click", (e) => { e.target.value = ""; }); // so that the same file may be chosen again
$("file").addEventListener("change", (e) => take([...e.target.files]));
$("trust").addEventListener("input", () => { state.keyOfLink = false; });
$("slot").addEventListener("input", () => { state.slotOfLink = false; $("slot").removeAttribute("aria-invalid"); });
$("text").addEventListener("input", () => { if ($("text").value !== "") { state.chosen = null; $("file").value = ""; $("name").textContent = ""; $("link").hidden = true; } });
$("text").addEventListener("paste", () => setTimeout(check));
window.addEventListener("hashchange", () => {
  $("slot").value = ""; // it is for one shuffle
  state.slotOfLink = false;
  follow(readLink());
});
$("served").hidden = !served;
if (served) $("contract").replaceChildren(el("a", { href: new URL("openapi.yaml", document.baseURI) }, "contract"));
follow(readLink());

for (const type of ["dragenter", "dragover"]) document.addEventListener(type, (e) => { e.preventDefault(); $("drop").classList.add("over"); });
for (const type of ["dragleave", "drop"]) document.addEventListener(type, () => $("drop").classList.remove("over"));
document.addEventListener("drop", (e) => {
  if (e.target instanceof HTMLTextAreaElement && e.dataTransfer.files.length === 0) return;
  e.preventDefault();
  if (e.dataTransfer.files.length === 0) return;
  $("file").files = e.dataTransfer.files;
  take([...e.dataTransfer.files]);
});
