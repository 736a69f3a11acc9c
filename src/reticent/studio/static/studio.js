// What htmx does not do: copy lines, send a form when a control of it changes.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  button.textContent = "Copied";
});

document.addEventListener("change", (event) => {
  const control = event.target.closest("[data-send]");
  if (control) control.form.requestSubmit();
});

document.addEventListener("input", (event) => {
  const control = event.target.closest("[data-shown-in]");
  if (!control) return;
  const labels = control.dataset.steps ? JSON.parse(control.dataset.steps) : null;
  document.getElementById(control.dataset.shownIn).textContent = labels ? labels[Number(control.value)] : control.value;
});

// A label of a tree that is dragged onto another is put under it; onto a value, both are ticked and wait for a name.
let dragged = null;
document.addEventListener("dragstart", (event) => {
  dragged = event.target.closest("[data-node]");
  if (dragged) event.dataTransfer.setData("text/plain", "");
});
document.addEventListener("dragover", (event) => {
  const node = event.target.closest("[data-node]");
  if (dragged && node && node !== dragged) { event.preventDefault(); node.classList.add("over"); }
});
document.addEventListener("dragleave", (event) => event.target.closest?.("[data-node]")?.classList.remove("over"));
document.addEventListener("drop", (event) => {
  const node = event.target.closest("[data-node]");
  if (!dragged || !node || node === dragged) return;
  event.preventDefault();
  node.classList.remove("over");
  const form = node.closest("form");
  const box = dragged.querySelector("input[name=node]");
  box.checked = true;
  dragged = null;
  if (Number.parseInt(node.dataset.node, 10) > Number.parseInt(box.value, 10)) {
    form.querySelector("[data-drop-target]").value = node.dataset.node;
    form.querySelector("[data-drop]").click();
  } else {
    node.querySelector("input[name=node]").checked = true;
    form.querySelector("[name=name]").focus();
  }
});
