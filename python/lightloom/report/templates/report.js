"use strict";
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);
  const figures = [...document.querySelectorAll("figure[data-figure]")];
  const hiddenSlots = new Set();
  const STACK_BELOW = 640; // px; narrower, panels stand one above the other
  root.classList.add("scripted");

  // Theme: the reader's choice, else the address's #theme=dark, else the system's.

  const system = matchMedia("(prefers-color-scheme: dark)");
  const toggle = document.getElementById("theme");
  let chosen = (location.hash.match(/theme=(dark|light)/) || [])[1];

  function applyTheme() {
    const theme = chosen || (system.matches ? "dark" : "light");
    root.dataset.theme = theme;
    toggle.textContent = theme === "dark" ? "Light theme" : "Dark theme";
  }

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  // A variable that refers to another must be resolved on an element.
  const probe = document.body.appendChild(document.createElement("span"));
  probe.hidden = true;
  const colourOf = (slot) => {
    if (slot === null) return css("--muted");
    probe.style.color = `var(--c${slot % root.dataset.colours})`;
    return getComputedStyle(probe).color;
  };

  // Drawing.

  const specOf = (figure) => data[figure.dataset.view][figure.dataset.figure];
  const plotOf = (figure) => figure.querySelector(".plot");

  const timelines = new Map(); // of a figure's data: per panel, where it is one

  function timelinesOf(spec) {
    if (!timelines.has(spec)) {
      timelines.set(spec, spec.panels.map((panel, i) => panel.x.stretch && Timeline.of(spec, panel, i ? `x${i + 1}` : "x")));
    }
    return timelines.get(spec);
  }

  function traces(spec) {
    const circuits = timelinesOf(spec).filter(Boolean).flatMap((timeline) => {
      const made = timeline.traces(colourOf(timeline.slot), css("--night"));
      return made.map((trace) => ({ ...trace, visible: !hiddenSlots.has(timeline.slot) }));
    });
    return [...curves(spec), ...circuits];
  }

  function curves(spec) {
    return spec.data.filter((trace) => trace.type).map((trace) => {
      const colour = colourOf(trace.meta.slot);
      const made = {
        ...trace,
        visible: !hiddenSlots.has(trace.meta.slot),
        line: { ...trace.line, color: colour },
        cliponaxis: false,
      };
      if (trace.marker) made.marker = { ...trace.marker, color: colour };
      if (trace.error_y) made.error_y = { ...trace.error_y, color: colour };
      if (trace.fill === "toself") made.fillcolor = colour.replace("rgb(", "rgba(").replace(")", ", 0.18)");
      return made;
    });
  }

  const layoutOf = (spec, width, height, columns) =>
    Panels.layout({ spec, timelines: timelinesOf(spec), css, width, height, columns });

  function draw(figure) {
    const plot = plotOf(figure);
    const spec = specOf(figure);
    if (!plot.clientWidth) return;
    const stacked = spec.columns > 1 && plot.clientWidth < STACK_BELOW;
    plot.classList.toggle("stacked", stacked);
    const layout = layoutOf(spec, plot.clientWidth, plot.clientHeight, stacked ? 1 : spec.columns);
    const config = { displayModeBar: false, displaylogo: false, showTips: false };
    const first = !plot.dataset.drawn;
    Plotly.react(plot, traces(spec), layout, config);
    for (const bar of figure.querySelectorAll(".zoom")) {
      const timeline = timelinesOf(spec)[bar.dataset.panel];
      bar.querySelectorAll("button").forEach((b) => b.setAttribute("aria-disabled", String(!timeline.can(b.dataset.zoom))));
    }
    if (first) {
      plot.dataset.drawn = "yes";
      plot.on("plotly_relayout", (change) => {
        if (timelinesOf(spec).some(Boolean)) follow(figure, spec, change);
        else retick(plot, spec, change);
      });
    }
  }

  // Timelines: by their buttons, or by what was dragged over the chart.

  function told(figure, spec) {
    draw(figure);
    for (const bar of figure.querySelectorAll(".zoom")) {
      bar.querySelector("output").textContent = timelinesOf(spec)[bar.dataset.panel].title;
    }
  }

  function follow(figure, spec, change) {
    timelinesOf(spec).forEach((timeline, i) => {
      const name = `xaxis${i ? i + 1 : ""}`;
      if (change[`${name}.autorange`]) timeline.move("whole");
      else if (`${name}.range[0]` in change) timeline.show([change[`${name}.range[0]`], change[`${name}.range[1]`]]);
      else if (change[`${name}.range`]) timeline.show(change[`${name}.range`]);
    });
    told(figure, spec);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zoom]");
    if (!button || button.getAttribute("aria-disabled") === "true") return;
    const figure = button.closest("figure");
    const spec = specOf(figure);
    timelinesOf(spec)[button.closest(".zoom").dataset.panel].move(button.dataset.zoom);
    told(figure, spec);
  });

  // Our ticks suit the whole picture; once the reader zooms, Plotly chooses.
  function retick(plot, spec, change) {
    const update = {};
    spec.panels.forEach((panel, i) => {
      for (const which of ["x", "y"]) {
        const name = `${which}axis${i ? i + 1 : ""}`;
        const whole = panel[which].range;
        if (change[`${name}.autorange`]) {
          update[`${name}.range`] = [...whole];
          update[`${name}.tickmode`] = "array";
        } else if (`${name}.range[0]` in change) {
          const same = plot.layout[name].range.every((v, k) => Math.abs(v - whole[k]) < 1e-9);
          update[`${name}.tickmode`] = same || panel[which].named ? "array" : "auto";
        }
      }
    });
    if (Object.keys(update).length) Plotly.relayout(plot, update);
  }

  function drawVisible() {
    figures.filter((f) => !f.closest(".view").hidden).forEach(draw);
  }

  // Legends: a fabric that is switched off is off in every figure.

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".legend button");
    if (!button) return;
    const slot = Number(button.dataset.slot);
    if (!hiddenSlots.delete(slot)) hiddenSlots.add(slot);
    document.querySelectorAll(`.legend button[data-slot="${slot}"]`)
      .forEach((b) => b.setAttribute("aria-pressed", String(!hiddenSlots.has(slot))));
    drawVisible();
  });

  // Saving: the picture drawn for papers if the page holds it, else what is on the screen.

  const pictureOf = (figure) => {
    const box = document.createElement("div");
    box.innerHTML = figure.querySelector("noscript").textContent;
    return box.querySelector("svg");
  };

  function save(url, name) {
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
  }

  async function screenImage(figure, format) {
    const spec = specOf(figure);
    const named = new Set();
    const list = traces(spec).map((t) => {
      const shown = !named.has(t.name) && !t.meta.aside;
      if (shown) named.add(t.name);
      return { ...t, showlegend: shown };
    });
    const rows = Math.ceil(spec.panels.length / spec.columns);
    const height = 80 + rows * (spec.shared ? 180 : 380);
    const layout = { ...layoutOf(spec, 1000, height, spec.columns), showlegend: true, paper_bgcolor: css("--paper") };
    layout.legend = { orientation: "h", x: 0, y: 1.12, yanchor: "bottom" };
    layout.margin = { ...layout.margin, t: 110 };
    return Plotly.toImage({ data: list, layout }, { format, width: 1000, height: height + 60, scale: format === "png" ? 3 : 1 });
  }

  function rasterise(svg, scale) {
    const [, , width, height] = svg.getAttribute("viewBox").split(/\s+/).map(Number);
    const source = new XMLSerializer().serializeToString(svg);
    return new Promise((done, fail) => {
      const image = new Image();
      image.onload = () => {
        const canvas = document.createElement("canvas");
        canvas.width = width * scale;
        canvas.height = height * scale;
        const pen = canvas.getContext("2d");
        pen.fillStyle = "#fff";
        pen.fillRect(0, 0, canvas.width, canvas.height);
        pen.drawImage(image, 0, 0, canvas.width, canvas.height);
        done(canvas.toDataURL("image/png"));
      };
      image.onerror = fail;
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
    });
  }

  async function imageOf(figure, format) {
    const svg = pictureOf(figure);
    if (!svg) return screenImage(figure, format);
    if (format === "png") return rasterise(svg, 4);
    const text = new XMLSerializer().serializeToString(svg);
    return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-save]");
    if (!button) return;
    const figure = button.closest("figure");
    const format = button.dataset.save;
    save(await imageOf(figure, format), `${figure.dataset.file}.${format}`);
  });

  // Printing: every workload, with the pictures drawn for paper.

  addEventListener("beforeprint", () => {
    for (const figure of figures) {
      const svg = pictureOf(figure);
      if (!svg || figure.querySelector(".for-print")) continue;
      const box = document.createElement("div");
      box.className = "picture for-print";
      box.append(svg);
      plotOf(figure).after(box);
      figure.classList.add("pictured");
    }
  });
  addEventListener("afterprint", () => {
    document.querySelectorAll(".for-print").forEach((box) => box.remove());
    document.querySelectorAll(".pictured").forEach((figure) => figure.classList.remove("pictured"));
  });

  document.querySelectorAll(".plot, .legend, .zooms, .downloads, .tabs, #theme").forEach((e) => { e.hidden = false; });
  applyTheme();
  document.addEventListener("shown", drawVisible); // a workload, chosen by the address
  const repaint = () => {
    applyTheme();
    drawVisible();
  };
  toggle.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    repaint();
  });
  system.addEventListener("change", repaint);
  let width = innerWidth;
  let waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(drawVisible);
  });
})();
