// The search over all pages. A browser that may not read the site's files, because they come from no server, shows the pages without
// scripts as they are.
"use strict";
if (location.protocol === "file:") {
  const plain = new DOMParser().parseFromString(document.querySelector("noscript").textContent, "text/html");
  document.getElementById("app")?.remove();
  document.body.append(plain.querySelector("main"));
} else {
  const find = document.createElement("button");
  find.id = "find";
  find.innerHTML = "Search <kbd>Ctrl K</kbd>";
  find.setAttribute("aria-label", "Search all pages");
  document.body.append(find);
  let modal;
  // Loaded when it is wanted: most pages are read without it.
  const open = async () => {
    if (!modal) {
      const style = document.createElement("link");
      style.rel = "stylesheet";
      style.href = baseUrl + "pagefind/pagefind-component-ui.css";
      document.head.append(style);
      await import(baseUrl + "pagefind/pagefind-component-ui.js");
      const config = document.createElement("pagefind-config");
      config.setAttribute("bundle-path", baseUrl + "pagefind/");
      config.setAttribute("base-url", baseUrl);
      modal = document.createElement("pagefind-modal");
      document.body.append(config, modal);
      await customElements.whenDefined("pagefind-modal");
    }
    modal.open();
  };
  find.onclick = open;
  addEventListener("keydown", event => {
    if (event.key === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      open();
    }
  });
}
