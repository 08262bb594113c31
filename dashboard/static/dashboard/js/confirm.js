// Changes ask first, in a dialog; without JavaScript their links lead to a page that asks.

export function startConfirm() {
  const dialog = document.getElementById("confirm");
  if (!dialog) return;
  const form = dialog.querySelector("form");
  const button = document.getElementById("confirm-do");
  let opener = null;

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-verb]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    opener = link;
    const { verb, subject, consequence, noun = "job" } = link.dataset;
    document.getElementById("confirm-title").textContent = `${verb} ${subject}?`;
    document.getElementById("confirm-text").textContent = consequence;
    button.textContent = `${verb} ${noun}`;
    button.classList.toggle("is-bad", link.classList.contains("is-bad"));
    form.action = link.href;
    dialog.showModal();
  });
  dialog.querySelector("[data-dismiss]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => opener?.isConnected && opener.focus());
  form.addEventListener("submit", () => (button.disabled = true));
}
