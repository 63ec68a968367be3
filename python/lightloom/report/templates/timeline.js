"use strict";
// Timelines: any stretch of what is kept of a panel's circuits and nights, as traces and an
// axis of Plotly's. Moments are seconds, columns whole picoseconds. Nothing here knows the page.
const Timeline = (() => {
  const PS = 1e-12;
  const UNITS = [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9], ["ps", 1e-12]];
  const GLUE = "\u00a0";
  const LETTER = 6.7; // px, of a tick's label
  const BAR_WIDTH = 9; // px
  const TOUCHED = 1000; // bars and nights of a stretch of which each can be pointed at
  const unitOf = (value) => UNITS.find(([, size]) => value >= size * 0.9995) || UNITS[UNITS.length - 1];
  const digits = (value, least, most) =>
    value.toLocaleString("en-US", { minimumFractionDigits: least, maximumFractionDigits: most });
  const placesFor = (value, significant) =>
    Math.min(12, Math.max(0, significant - 1 - Math.floor(Math.log10(value))));

  // Three significant digits and a unit; four of a length that is pointed at.
  function show(value, significant = 3) {
    const [name, size] = unitOf(value);
    const places = placesFor(value / size, significant);
    return digits(value / size, significant === 3 ? places : 0, places) + GLUE + name;
  }

  // Axes. A tick has the unit of the distance between ticks.

  function stride(length, count) {
    const rough = length / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * [1, 2, 2.5, 5, 10].find((n) => n * power >= rough * 0.75);
  }

  function places([low, high], count) {
    const unit = unitOf(high - low)[1];
    const step = stride((high - low) / unit, count) * unit;
    const [name, size] = unitOf(step);
    const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
    const tickvals = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
    const label = (v) => digits(Number((v / size).toPrecision(12)), 0, 12) + GLUE + name;
    return { step, tickvals, ticktext: tickvals.map((v) => (Math.abs(v) < step / 2 ? "0" : label(v))) };
  }

  // As many as find room on an axis of that width [px].
  function ticks(range, width) {
    const fits = ({ step, ticktext }) =>
      Math.max(...ticktext.map((text) => text.length)) * LETTER + 12 <= (step / (range[1] - range[0])) * width;
    const { tickvals, ticktext } = [4.5, 3.5, 2.5, 2].map((n) => places(range, n)).find((made, i) => i === 3 || fits(made));
    return { tickvals, ticktext };
  }

  // `time, 100 to 842 µs of 20.6 ms`.
  function part([low, high], end) {
    if (low === 0 && high === end) return "time";
    const [name, size] = unitOf(high - low);
    const places = placesFor((high - low) / size, 3);
    const first = low ? digits(low / size, places, places) : "0";
    return `time, ${first} to ${digits(high / size, places, places)}${GLUE}${name} of ${show(end)}`;
  }

  // Columns.

  function opened({ after, length, row }) {
    let since = 0;
    const start = after.map((step) => (since += step));
    return { start, end: start.map((s, i) => s + length[i]), length, row };
  }

  // x and y of lines, or of areas over all y between two limits.
  const lines = ({ start, end, row }) => ({
    x: start.flatMap((s, i) => [s * PS, end[i] * PS, null]),
    y: row.flatMap((r) => [r, r, null]),
  });
  const areas = ({ start, end }, [bottom, top]) => ({
    x: start.flatMap((s, i) => [s * PS, end[i] * PS, end[i] * PS, s * PS, null]),
    y: start.flatMap(() => [bottom, bottom, top, top, null]),
  });

  const within = ({ start, end }, [low, high]) =>
    start.flatMap((s, i) => (s * PS < high && end[i] * PS > low ? [i] : []));

  // Pointing: from when until when as exactly as the length is told, in the axis' unit.

  function between(start, end, [name, size]) {
    const places = placesFor(((end - start) * PS) / size, 4);
    const at = (moment) => digits((moment * PS) / size, 0, places);
    return `${at(start)} to ${at(end)}${GLUE}${name}`;
  }

  function ofBar({ start, end, length }, i, name, dusk, unit) {
    const night = dusk.get(start[i]);
    const before = night ? `after a night of ${show(night * PS, 4)}` : "without a night before it";
    return `<b>${name}</b> ${between(start[i], end[i], unit)}<br>day of ${show(length[i] * PS, 4)}, ${before}`;
  }

  const ofNight = ({ start, end, length }, i, unit) =>
    `<b>night</b> ${between(start[i], end[i], unit)}<br>all circuits dark for ${show(length[i] * PS, 4)}`;

  // What can be pointed at in a stretch: bars of Plotly's, which nobody sees, as it rounds
  // their ends to whole pixels.
  function touched(bars, nights, names, range) {
    let [of, dark] = [within(bars, range), within(nights, range)];
    if (of.length + dark.length > TOUCHED) of = dark = [];
    const dusk = new Map(nights.end.map((end, i) => [end, nights.length[i]]));
    const unit = unitOf(places(range, 4.5).step);
    const both = (bar, night) => [...of.map(bar), ...dark.map(night)];
    return {
      type: "bar", orientation: "h", marker: { opacity: 0 }, hovertemplate: "%{hovertext}<extra></extra>",
      base: both((i) => bars.start[i] * PS, (i) => nights.start[i] * PS),
      x: both((i) => bars.length[i] * PS, (i) => nights.length[i] * PS),
      y: both((i) => bars.row[i], () => (names.length - 1) / 2),
      width: both(() => 0.8, () => names.length + 0.2),
      hovertext: both((i) => ofBar(bars, i, names[bars.row[i]], dusk, unit), (i) => ofNight(nights, i, unit)),
    };
  }

  // Zooming: within 0 and `kept`, and to nothing shorter than `shortest`.

  function inside([low, high], kept, shortest) {
    const length = Math.min(kept, Math.max(high - low, shortest));
    const start = Math.min(Math.max(0, length < kept ? (low + high - length) / 2 : 0), kept - length);
    return [start, length < kept ? start + length : kept];
  }

  const MOVES = {
    in: (low, high) => [low + (high - low) / 4, high - (high - low) / 4],
    out: (low, high) => [low - (high - low) / 2, high + (high - low) / 2],
    earlier: (low, high) => [low - (high - low) / 2, high - (high - low) / 2],
    later: (low, high) => [low + (high - low) / 2, high + (high - low) / 2],
  };

  // A panel's timeline: the traces whose x axis is `name`, and the stretch that is shown.
  function of(spec, panel, name) {
    const found = (kind) => spec.data.find((trace) => trace[kind] && trace.xaxis === name);
    const [lit, dark] = [found("bars"), found("nights")];
    const bars = opened(lit.bars);
    const nights = opened(dark ? dark.nights : { after: [], length: [] });
    const [kept, end] = panel.x.stretch;
    const names = panel.y.ticktext;
    const opening = [...panel.x.range];
    // Half of the shortest thing there is: closer, a reader sees no more.
    const shortest = (PS / 2) * [...bars.length, ...nights.length].reduce((a, b) => Math.min(a, b || a), Infinity);
    const common = { xaxis: lit.xaxis, yaxis: lit.yaxis, meta: lit.meta };
    const still = { ...common, mode: "lines", hoverinfo: "skip" };
    const [segments, bands] = [lines(bars), areas(nights, panel.y.range)];
    return {
      range: opening,
      slot: lit.meta.slot,
      show(range) { this.range = inside(range, kept, shortest); },
      move(how) {
        if (how === "opening") this.range = opening;
        else this.show(how === "whole" ? [0, kept] : MOVES[how](...this.range));
      },
      // Whether a move would show anything else.
      can(how) {
        const [low, high] = this.range;
        if (how === "in") return high - low > shortest * 1.001;
        if (how === "opening") return low !== opening[0] || high !== opening[1];
        return how === "earlier" ? low > 0 : how === "later" ? high < kept : high - low < kept;
      },
      get title() { return part(this.range, end); },
      axis(width) { return { range: this.range, title: this.title, ...ticks(this.range, width) }; },
      // Simplified, what is narrower than a pixel would vanish, however much of it there is.
      traces(colour, night) {
        return [
          ...(dark ? [{ ...still, ...bands, name: dark.name, fill: "toself", fillcolor: night, line: { width: 0, simplify: false } }] : []),
          { ...still, ...segments, name: lit.name, line: { width: BAR_WIDTH, color: colour, simplify: false } },
          { ...common, ...touched(bars, nights, names, this.range), meta: { ...lit.meta, aside: true } },
        ];
      },
    };
  }

  return { of, ticks, part, inside };
})();
