// What htmx does not do: copy lines, send a form when a control of it changes, say a refusal where it happened.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const lines = document.getElementById(button.dataset.copy);
  navigator.clipboard.writeText(lines.textContent).then(
    () => { button.textContent = "Copied"; },
    () => { getSelection().selectAllChildren(lines); button.textContent = "Press Ctrl-C"; },
  );
});

document.addEventListener("change", (event) => {
  const control = event.target.closest("[data-send]");
  if (control) control.form.requestSubmit();
});

// What was refused, or not answered, is said below the form that was sent; the page stays, with all that was typed.
function sayBelow(control, alert) {
  document.getElementById("refusal")?.remove();
  const form = control.closest("form");
  if (form) form.after(alert);
  else document.getElementById("main").prepend(alert);
  alert.scrollIntoView({ block: "nearest" });
}
function makeAlert(words, advice) {
  const alert = document.createElement("div");
  alert.className = "warning";
  alert.id = "refusal";
  alert.setAttribute("role", "alert");
  for (const text of [words, advice]) alert.appendChild(document.createElement("p")).textContent = text;
  return alert;
}
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  if (requestConfig.verb !== "post" || ![422, 500].includes(xhr.status)) return;
  const alert = new DOMParser().parseFromString(xhr.responseText, "text/html").getElementById("refusal");
  if (!alert) return;
  event.detail.shouldSwap = false;
  sayBelow(requestConfig.elt, alert);
});
document.addEventListener("htmx:responseError", (event) => {
  if ([422, 500].includes(event.detail.xhr.status)) return;
  sayBelow(event.detail.elt, makeAlert(event.detail.xhr.responseText.slice(0, 500), "Reload this page, and try again."));
});
document.addEventListener("htmx:sendError", (event) => {
  sayBelow(event.detail.elt, makeAlert(
    "The studio does not answer: it may have ended.",
    "What you typed is still here. Run reticent studio again in the same folder, and open its new link.",
  ));
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
