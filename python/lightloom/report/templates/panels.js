"use strict";
// Panels: where those of a figure stand, and their axes and titles, as a layout of Plotly's.
// Lengths are px. Nothing here knows the page but the colours that it is given.
const Panels = (() => {
  const LETTER = 6.7; // of a tick's label
  // Room between panels for tick labels, axis titles and panel titles. Small multiples have
  // those of their axes at the edge alone.
  const GAPS = { own: { x: 88, y: 96 }, shared: { x: 36, y: 38 } };

  const gapsOf = (spec) => (spec.shared ? GAPS.shared : GAPS.own);

  // The parts of the picture in which panels lie, row by row.
  function domains(count, columns, gaps, width, height) {
    const rows = Math.ceil(count / columns);
    const [gapX, gapY] = [gaps.x / width, gaps.y / height];
    const [wide, high] = [(1 - gapX * (columns - 1)) / columns, (1 - gapY * (rows - 1)) / rows];
    return Array.from({ length: count }, (_, i) => {
      const left = (i % columns) * (wide + gapX);
      const top = 1 - Math.floor(i / columns) * (high + gapY);
      return { x: [left, Math.min(1, left + wide)], y: [Math.max(0, top - high), top] };
    });
  }

  // Every tick, or every second, third, … so that labels do not meet.
  function fitting({ tickvals, ticktext }, width) {
    const longest = Math.max(0, ...ticktext.map((text) => text.length)) * LETTER + 8;
    const step = Math.max(1, Math.ceil((ticktext.length * longest) / width));
    const kept = (_, i) => i % step === 0;
    return { tickvals: tickvals.filter(kept), ticktext: ticktext.filter(kept) };
  }

  function axis(spec, css, { domain, anchor, named, title, fixed }) {
    return {
      ...spec, range: [...spec.range], domain, anchor, automargin: false, zeroline: false, ticks: "outside", ticklen: 4,
      title: { text: named ? title : "", standoff: 8, font: { size: 13 } }, showticklabels: named,
      tickcolor: css("--line"), gridcolor: css("--grid"), linecolor: css("--line"), showline: true, tickangle: 0,
      tickmode: "array", fixedrange: fixed || matchMedia("(pointer: coarse)").matches,
    };
  }

  // The y axis is named above its panel, beside the panel's own name or, on a phone, below that; that
  // of all once.
  function titleOf(panel, css, width, told) {
    const letters = Math.max(8, Math.floor(width / 7));
    // Escaped text: a part of it might end within an entity.
    const short = panel.title.length <= letters || panel.title.includes("&");
    const title = short ? panel.title : `${panel.title.slice(0, letters - 1)}…`;
    const same = panel.title.toLowerCase().includes(panel.y.title);
    if (same || !told || !panel.y.title) return `<b>${title}</b>`;
    const beside = (panel.title + panel.y.title).length * 7 < width;
    return `<b>${title}</b>${beside ? "  " : "<br>"}<span style="color:${css("--muted")}">${panel.y.title}</span>`;
  }

  const titled = (text, { x, y }) => ({
    text, showarrow: false, xref: "paper", yref: "paper", x: x[0], xshift: -6,
    y: y[1], xanchor: "left", yanchor: "bottom", yshift: 6, font: { size: 13 },
  });

  // The layout of a figure with so many panels side by side.
  function layout({ spec, timelines, css, width, height, columns }) {
    const names = spec.panels.flatMap((panel) => panel.y.named ? panel.y.ticktext : []);
    const titleAt = (panel, i, wide) => titleOf(panel, css, wide, !spec.shared || i === 0);
    const margin = { l: Math.max(60, ...names.map((name) => name.length * 7 + 14)), r: 16, t: 30, b: 48 };
    const across = width - margin.l - margin.r;
    const count = spec.panels.length;
    const single = (across - gapsOf(spec).x * (columns - 1)) / columns;
    // A name of two lines takes room above the first row.
    if (spec.panels.slice(0, columns).some((panel, i) => titleAt(panel, i, single).includes("<br>"))) margin.t += 18;
    const down = height - margin.t - margin.b;
    const places = domains(count, columns, gapsOf(spec), across, down);
    const made = {
      width, height, margin, showlegend: false, hovermode: "closest", dragmode: "zoom",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: css("--sans"), size: 12, color: css("--ink") },
      hoverlabel: { namelength: -1, bgcolor: css("--panel"), bordercolor: css("--line"), font: { color: css("--ink") } },
      annotations: [], barmode: "overlay",
    };
    spec.panels.forEach((panel, i) => {
      const n = i ? String(i + 1) : "";
      const place = places[i];
      const wide = (place.x[1] - place.x[0]) * across;
      const timeline = timelines[i];
      const time = timeline ? { ...panel.x, ...timeline.axis(wide) } : { ...panel.x, ...fitting(panel.x, wide) };
      const [lowest, first] = [!spec.shared || i + columns >= count, !spec.shared || i % columns === 0];
      made[`xaxis${n}`] = axis(time, css, { domain: place.x, anchor: `y${n}`, named: lowest, title: time.title });
      made[`yaxis${n}`] = axis(panel.y, css, { domain: place.y, anchor: `x${n}`, named: first, title: "", fixed: Boolean(timeline) });
      made.annotations.push(titled(titleAt(panel, i, wide), place));
    });
    return made;
  }

  return { layout, domains };
})();
