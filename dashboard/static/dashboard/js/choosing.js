// Lists that can be acted on: choose all rows of the page, say how many are chosen. Filters that
// take effect when they change. Buttons that copy.

const words = (number) => (number === 1 ? "1 chosen" : `${number} chosen`);

function startChoosing(form) {
  const said = form.querySelector("[data-chosen]");
  const none = said?.textContent;
  const boxes = () => [...form.querySelectorAll('tbody input[type="checkbox"][name]')];

  function say() {
    const all = boxes();
    const chosen = all.filter((box) => box.checked).length;
    if (said) said.textContent = chosen ? words(chosen) : none;
    const head = form.querySelector("[data-all]");
    if (!head) return;
    head.checked = chosen > 0 && chosen === all.length;
    head.indeterminate = chosen > 0 && chosen < all.length;
  }

  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) {
      for (const box of boxes()) box.checked = event.target.checked;
    }
    say();
  });
  document.addEventListener("headrace:news", say);
  addEventListener("pageshow", say);
  say();
}

export function startForms() {
  for (const form of document.querySelectorAll("form.bulk")) startChoosing(form);
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
  });
  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    });
  }
}
