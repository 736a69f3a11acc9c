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
