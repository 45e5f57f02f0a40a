// Loads the renderer of the pages, and the search over all of them. A browser that may not read the site's files, because they come
// from no server, shows the pages without both.
"use strict";
const renderer = document.currentScript.dataset.renderer.split(" ");
// The folder of the site, wherever that is: the renderer asks for it by this name.
var baseUrl = new URL(document.currentScript.src).pathname.replace(/site\.js$/, "");
if (location.protocol === "file:") {
  const plain = new DOMParser().parseFromString(document.querySelector("noscript").textContent, "text/html");
  document.getElementById("app").replaceWith(plain.querySelector("main"));
} else {
  // The renderer takes the address for the name of the page.
  history.replaceState(null, "", location.href.replace(/index\.html(?=[?#]|$)/, ""));
  for (const name of renderer) {
    const script = document.createElement("script");
    script.src = baseUrl + name;
    script.async = false;
    document.head.append(script);
  }
  const find = document.createElement("button");
  find.id = "find";
  find.innerHTML = "Search <kbd>Ctrl K</kbd>";
  find.setAttribute("aria-label", "Search all pages");
  document.body.append(find);
  let modal;
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  // Loaded when it is wanted: most pages are read without it.
  const open = async () => {
    if (!modal) {
      document.head.append(element("link", {rel: "stylesheet", href: baseUrl + "pagefind/pagefind-component-ui.css"}));
      await import(baseUrl + "pagefind/pagefind-component-ui.js");
      modal = element("pagefind-modal", {},
        element("pagefind-modal-header", {}, element("pagefind-input", {placeholder: "Words, or the name of a symbol"})),
        element("pagefind-modal-body", {}, element("pagefind-filter-dropdown", {filter: "part", label: "Only in", "single-select": ""}),
          element("pagefind-summary"), element("pagefind-results", {"show-sub-results": ""})));
      // Long pages are guides: they do not come last for being long.
      const ranking = {metaWeights: {title: 1}, pageLength: 0.1, termSaturation: 1.4};
      PagefindComponents.configureInstance("default", {bundlePath: baseUrl + "pagefind/", baseUrl, ranking});
      document.body.append(modal);
    }
    const scheme = document.body.dataset.colorScheme;
    const isDark = scheme === "dark" || scheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.pfTheme = isDark ? "dark" : "light";
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
