"use strict";
// The address: what its part after # says of the workload, the section and the fabric that a
// reader looks at, `#workload=web-search&section=key-figures&fabric=clos`. A link to it lands
// there; choosing a workload or a section can be undone by going back.
(() => {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const views = [...document.querySelectorAll(".view")];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const read = () => new URLSearchParams(location.hash.slice(1));
  const BEGUN = 160; // px from the top of the window
  let shown = 0; // the workload
  let held = null; // the section that a link led to, until the reader moves
  let landed = -1; // where that was, or where the page itself moved [px]: what leads on is the reader's

  // Writing it.

  function write(changes, how) {
    const address = read();
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) address.delete(key);
      else address.set(key, value);
    }
    const text = address.toString();
    if (text === location.hash.slice(1)) return;
    try {
      history[`${how}State`](null, "", text ? `#${text}` : location.pathname + location.search);
    } catch (refused) {
      if (refused.name !== "SecurityError") throw refused; // a page within another has no address
    }
  }

  // Workloads: by name, or by number from 1.

  // A name as an address has it, however it was written: small letters, digits and hyphens.
  const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

  // The whole name, or a part of it that no other has: `realistic` of "web search, realistic".
  function tabNamed(name) {
    const whole = tabs.findIndex((tab) => tab.dataset.name === name);
    if (whole >= 0 || !name) return whole;
    const parts = tabs.flatMap((tab, i) => `-${tab.dataset.name}-`.includes(`-${name}-`) ? [i] : []);
    return parts.length === 1 ? parts[0] : -1;
  }

  function workloadOf(address) {
    const wanted = address.get("workload");
    const number = /^[0-9]+$/.test(wanted || "") && !tabs.some((tab) => tab.dataset.name === wanted);
    const named = number ? -1 : tabNamed(plain(wanted || ""));
    if (named >= 0) return named;
    return Math.min(Math.max(Math.trunc(Number(wanted)) || 1, 1), Math.max(1, tabs.length)) - 1;
  }

  function select(index) {
    shown = index;
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
      views[i].hidden = i !== index;
    });
    document.dispatchEvent(new Event("shown"));
  }

  function choose(index) {
    held = null;
    select(index);
    write({ workload: tabs[index].dataset.name, section: null }, "push");
    tell(null);
  }

  const STEPS = {
    ArrowRight: (i, n) => (i + 1) % n, ArrowLeft: (i, n) => (i + n - 1) % n, Home: () => 0, End: (i, n) => n - 1,
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => choose(i));
    tab.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      const next = step(i, tabs.length);
      choose(next);
      tabs[next].focus();
    });
  });

  // Sections: the table of contents says which one is looked at.

  const sections = () => [...views[shown].querySelectorAll("[data-section]")];
  const named = (name) => sections().find((s) => s.dataset.section === name);

  function tell(section) {
    for (const link of views[shown].querySelectorAll(".toc a")) {
      const here = section !== null && link.hash === `#${section.id}`;
      if (here) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
      if (here) link.closest(".toc").querySelector(".here").textContent = link.textContent;
    }
    if (section === null) views[shown].querySelector(".toc .here").textContent = "";
  }

  function land(section) {
    section.scrollIntoView({ behavior: "instant" });
    held = section;
    landed = scrollY;
    tell(section);
  }

  // What is drawn after a link has led to a section moves that: there again, unless the reader has
  // done something meanwhile. A page that grows or shrinks scrolls by itself, which nobody asked for.
  const release = () => { held = null; };
  for (const moved of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    addEventListener(moved, release, { passive: true, capture: true });
  }
  new ResizeObserver(() => {
    if (held) land(held);
    else landed = scrollY;
  }).observe(document.body);

  document.addEventListener("click", (event) => {
    const link = event.target.closest(".toc a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const section = document.getElementById(link.hash.slice(1));
    write({ section: section.dataset.section, ...(tabs.length && { workload: tabs[shown].dataset.name }) }, "push");
    if (!wide.matches) link.closest("details").open = false;
    land(section);
    section.focus({ preventScroll: true });
  });

  // The last section that has begun; at the end of the page the last.
  function here() {
    const begun = sections().filter((s) => s.getBoundingClientRect().top < BEGUN);
    const root = document.documentElement;
    const end = root.scrollHeight - innerHeight - scrollY < 2 && scrollY > 0;
    return (end ? sections() : begun).at(-1) || null;
  }

  let waiting = 0;
  addEventListener("scroll", () => {
    if (Math.abs(scrollY - landed) >= 2) release();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (Math.abs(scrollY - landed) < 2) return;
      landed = -1;
      const section = scrollY > 0 ? here() : null;
      tell(section);
      write({ section: section && section.dataset.section }, "replace");
    }, 120);
  }, { passive: true });

  // Fabrics: their columns, of which a narrow window shows a few.

  function columnOf(box, number) {
    return box.querySelectorAll("thead th")[number + 1];
  }

  function reveal(box, number) {
    const column = columnOf(box, number);
    const first = box.querySelector("th.metric").offsetWidth;
    box.scrollTo({ left: column.offsetLeft - first, behavior: calm.matches ? "instant" : "auto" });
  }

  function pick(label) {
    for (const head of document.querySelectorAll("th[data-fabric]")) {
      const here = head.dataset.fabric === label;
      const rows = head.closest("table").rows;
      for (const row of rows) {
        if (row.cells.length > head.cellIndex) row.cells[head.cellIndex].classList.toggle("picked", here);
      }
      if (here) reveal(head.closest(".scroll"), head.cellIndex - 1);
    }
    for (const button of document.querySelectorAll("[data-column]")) {
      button.setAttribute("aria-pressed", String(button.textContent === label));
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-column]");
    if (!button) return;
    const label = button.getAttribute("aria-pressed") === "true" ? null : button.textContent;
    write({ fabric: label }, "replace");
    pick(label);
  });

  // Which columns are in sight; what lies to the right fades.
  function inSight(box) {
    const over = box.scrollWidth - box.clientWidth;
    const bar = box.previousElementSibling;
    bar.hidden = over <= 2;
    box.classList.toggle("cut-right", over - box.scrollLeft > 2);
    const first = box.querySelector("th.metric").offsetWidth;
    bar.querySelectorAll("[data-column]").forEach((button, i) => {
      const column = columnOf(box, i);
      const left = column.offsetLeft - box.scrollLeft;
      const seen = left >= first - 2 && left + column.offsetWidth <= box.clientWidth + 2;
      button.classList.toggle("in-sight", seen);
    });
  }

  // What lies to the right of other wide tables fades, too.
  const fade = (box) => box.classList.toggle("cut-right", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  const across = [...document.querySelectorAll(".across")];
  across.forEach((box) => box.addEventListener("scroll", () => fade(box), { passive: true }));
  // Parts of a bill are shown when they are opened.
  across.forEach((box) => box.closest("details")?.addEventListener("toggle", () => fade(box)));

  const tables = [...document.querySelectorAll(".scroll")];
  const look = () => {
    tables.forEach((box) => box.offsetParent && inSight(box));
    across.forEach((box) => box.offsetParent && fade(box));
  };
  tables.forEach((box) => box.addEventListener("scroll", () => inSight(box), { passive: true }));
  document.addEventListener("shown", look);
  addEventListener("resize", look);

  // Going there. Links of a page without scripts have a section's own id.

  function go() {
    const address = read();
    const own = [...document.querySelectorAll("[data-section]")].find((s) => `#${s.id}` === location.hash);
    select(own ? views.indexOf(own.closest(".view")) : workloadOf(address));
    pick(address.get("fabric"));
    const section = own || named(address.get("section"));
    if (section) land(section);
    else {
      release();
      scroll(0, 0);
      tell(null);
    }
  }

  history.scrollRestoration = "manual"; // the section says where, however wide the window is now
  addEventListener("popstate", go);

  // Where there is room for it, the table of contents stands beside the page, open.
  const wide = matchMedia("(min-width: 90rem)");
  const place = () => document.querySelectorAll(".toc details").forEach((d) => { d.open = wide.matches; });
  wide.addEventListener("change", place);
  place();
  go();
})();
