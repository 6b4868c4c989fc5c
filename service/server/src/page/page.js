"use strict";
// The figures of each second, by its number, and the last answer of the server.
const seconds = new Map();
let last = null, lastAt = 0, range = 300, polling = false;
const KEPT = 900, LOST_AFTER_MS = 3500, PATIENCE_MS = 4000;
const at = (id) => document.getElementById(id);

function make(name, attributes, ...children) {
  const svg = ["svg", "path", "line", "text", "g", "rect"].includes(name);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// Numbers as people read them: 1234567 is 1.23 M.
function short(value) {
  const round = (number) => String(Number(number.toPrecision(3)));
  for (const [size, unit] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]])
    if (value >= size && value >= 1e4) return round(value / size) + unit;
  return value >= 1000 ? String(Math.round(value)) : round(value);
}
function clock(time) {
  return new Date(time).toLocaleTimeString([], { hour12: false });
}
function span(total) {
  const parts = [["d", Math.floor(total / 86400)], ["h", Math.floor(total / 3600) % 24],
    ["min", Math.floor(total / 60) % 60], ["s", Math.floor(total) % 60]];
  const first = parts.findIndex(([, value]) => value > 0);
  return parts.slice(first < 0 ? 3 : first).slice(0, 2).map(([unit, value]) => `${value} ${unit}`).join(" ");
}
function show(id, value, unit) {
  at(id).replaceChildren(value, ...(unit ? [make("em", {}, unit)] : []));
}

// The seconds shown, oldest first; those before the start of the service are missing.
function shown(count) {
  const end = last.snapshot.uptime, list = [];
  for (let number = Math.max(0, end - count); number < end; number++)
    list.push(seconds.get(number) || { second: number });
  return list;
}
const sum = (list, field) => list.reduce((total, each) => total + (each[field] || 0), 0);
const most = (list, field) => list.reduce((high, each) => Math.max(high, each[field] || 0), 0);
const errorsOf = (each) => Object.values(each.errors || {}).reduce((a, b) => a + b, 0);

// A round value at or above `high`, for the top of an axis.
function ceiling(high) {
  const power = 10 ** Math.floor(Math.log10(Math.max(high, 1e-3)));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((value) => value >= high * 0.999) || high;
}

// Draws lines over time. A series is {name, colour, of, area}; `log` is for latencies, which span decades.
function plot(id, series, log) {
  const box = at("plot-" + id), width = box.clientWidth, height = box.clientHeight;
  if (width < 50) return;
  const list = shown(range), end = last.snapshot.uptime, start = end - range;
  const left = 44, right = width - 4, top = 8, bottom = height - 20;
  const values = list.flatMap((each) => series.map((one) => one.of(each))).filter((value) => value > 0);
  const high = values.length ? Math.max(...values) : 1;
  const ceil = log ? 10 ** Math.ceil(Math.log10(high * 1.05)) : ceiling(Math.max(high, 1));
  const floor = log ? Math.min(ceil / 100, 10 ** Math.floor(Math.log10(values.length ? Math.min(...values) : 0.1))) : 0;
  const x = (second) => left + (second + 1 - start) / range * (right - left);
  const y = (value) => bottom - (bottom - top) * (log
    ? Math.log(Math.max(value, floor) / floor) / Math.log(ceil / floor) : Math.min(value / ceil, 1));
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": series.map((s) => s.name).join(", ") });
  const ticks = [];
  if (log) for (let tick = floor; tick <= ceil * 1.001; tick *= 10) ticks.push(tick);
  else ticks.push(0, ceil / 2, ceil);
  for (const tick of ticks) svg.append(
    make("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
    make("text", { x: left - 7, y: y(tick) + 4, "text-anchor": "end" }, short(Number(tick.toPrecision(3)))));
  const parts = range > 60 ? 5 : 4;
  for (let part = 0; part <= parts; part++) {
    if (width < 420 && (parts - part) % 2) continue;
    const ago = Math.round(range * (1 - part / parts));
    svg.append(make("text", { x: left + part / parts * (right - left), y: height - 3,
      "text-anchor": part === 0 ? "start" : part === parts ? "end" : "middle" },
      ago === 0 ? "now" : ago < 60 ? `−${ago} s` : `−${ago / 60} min`));
  }
  for (const one of series) {
    let path = "", first = null, pen = false;
    for (const each of list) {
      const value = one.of(each);
      // A second without calls has no latency: the line has a gap there.
      if (value === undefined || (log && !(value > 0))) { pen = false; continue; }
      path += `${pen ? "L" : "M"}${x(each.second).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = true;
      first = first ?? x(each.second);
    }
    if (one.area && first !== null) svg.append(
      make("path", { class: "area c-" + one.colour, d: `${path}L${x(end - 1).toFixed(1)} ${bottom}L${first.toFixed(1)} ${bottom}Z` }));
    svg.append(make("path", { class: "line c-" + one.colour, d: path || "M0 0" }));
  }
  box.replaceChildren(svg);
  point(box, svg, series, { left, right, top, bottom, start });
  at("legend-" + id).replaceChildren(...series.map((one) =>
    make("li", {}, make("i", { class: "c-" + one.colour }), one.name)));
}

// Shows the values under the pointer in the legend.
function point(box, svg, series, { left, right, top, bottom, start }) {
  const cursor = make("line", { class: "cursor", y1: top, y2: bottom, visibility: "hidden" });
  svg.append(cursor);
  svg.addEventListener("pointermove", (event) => {
    const x = event.clientX - svg.getBoundingClientRect().left;
    const each = seconds.get(Math.round((x - left) / (right - left) * range + start - 1));
    if (!each) return;
    cursor.setAttribute("visibility", "visible");
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    const legend = at(box.id.replace("plot", "legend"));
    legend.replaceChildren(...series.map((one) =>
      make("li", {}, make("i", { class: "c-" + one.colour }), `${one.name} ${short(one.of(each) || 0)}`)));
  });
}

function bar(name, value, part, colour, title) {
  const fill = make("i", { class: "c-" + colour });
  fill.style.width = `${Math.max(part * 100, value === "0" ? 0 : 0.5)}%`;
  return make("div", { class: "bar", title: title || name }, make("span", {}, name), make("b", {}, value), make("div", {}, fill));
}
function bars(id, rows, nothing) {
  at(id).replaceChildren(...(rows.length ? rows : [make("p", { class: "none" }, nothing)]));
}

function tiles() {
  const minute = shown(60), few = minute.slice(-5), now = few.length ? sum(few, "items") / few.length : 0;
  show("rate", short(now), "/s");
  const calls = few.length ? sum(few, "operations") / few.length : 0;
  at("rate-note").textContent = `${short(calls)} calls/s, most ${short(most(shown(KEPT), "items"))}/s in 15 min`;
  const [p50, p99, p999] = last.minute_ms;
  const answered = sum(minute, "operations") > 0;
  show("p50", answered ? short(p50) : "–", answered ? "ms" : "");
  show("p99", answered ? short(p99) : "–", answered ? "ms" : "");
  at("p999").textContent = answered ? `p99.9 ${short(p999)} ms` : "last minute";
  show("queue", short(few.length ? few[few.length - 1].queue || 0 : 0), "calls");
  at("queue-note").textContent = `${short(sum(minute, "refused"))} refused in 1 min`;
  const batches = sum(minute, "batches");
  const items = minute.reduce((total, each) => total + (each.mean_batch || 0) * (each.batches || 0), 0);
  show("batch", batches ? short(items / batches) : "–", batches ? "items" : "");
  at("batch-note").textContent = `largest ${short(most(minute, "largest_batch"))}`;
  const errors = minute.reduce((total, each) => total + errorsOf(each), 0);
  show("errors", short(errors));
  at("errors-tile").classList.toggle("bad", errors > 0);
}

function lists() {
  const minute = shown(60), computed = (each) => (each.mean_batch || 0) * (each.batches || 0);
  const all = minute.reduce((total, each) => total + computed(each), 0);
  const gpu = all ? minute.reduce((total, each) => total + computed(each) * (each.gpu_share || 0), 0) / all : 0;
  bars("share", all ? [bar("CPU", `${Math.round((1 - gpu) * 100)} %`, 1 - gpu, "blue"),
    bar("GPU", `${Math.round(gpu * 100)} %`, gpu, "green")] : [], "Nothing was computed in the last minute.");
  at("share-note").textContent =
    all ? `${(sum(minute, "busy") / minute.length).toFixed(2)} cores or GPUs busy on average in the last minute` : "";
  const doors = {};
  for (const each of shown(range))
    for (const [door, count] of Object.entries(each.errors || {})) doors[door] = (doors[door] || 0) + count;
  at("doors-title").textContent = `Errors by door, last ${range / 60} min`;
  const failed = Object.entries(doors).sort((a, b) => b[1] - a[1]);
  bars("doors", failed.map(([door, count]) => bar(door, short(count), count / failed[0][1], "bad")),
    "No errors in the time shown.");
  const keys = last.snapshot.keys;
  bars("keys", keys.map(({ key_id, alias, uses }) => bar(alias || key_id, short(uses), uses / keys[0].uses, "blue", key_id)),
    "No key was used in the last 15 minutes.");
  const rows = last.replicas.map((each) => make("tr", {},
    make("td", {}, each.name), make("td", {}, each.version), make("td", {}, span(each.uptime))));
  at("replicas").replaceChildren(make("table", {},
    make("tr", {}, make("th", {}, "name"), make("th", {}, "version"), make("th", {}, "up for")), ...rows));
}

function draw() {
  if (!last) return;
  tiles();
  plot("rate", [{ name: "results", colour: "blue", area: true, of: (each) => each.items || 0 }]);
  plot("latency", [{ name: "p99.9", colour: "pink", of: (each) => each.p999_ms },
    { name: "p99", colour: "orange", of: (each) => each.p99_ms },
    { name: "median", colour: "blue", of: (each) => each.p50_ms }], true);
  plot("batch", [{ name: "largest", colour: "orange", of: (each) => each.largest_batch || 0 },
    { name: "mean", colour: "blue", area: true, of: (each) => each.mean_batch || 0 }]);
  plot("queue", [{ name: "waiting", colour: "blue", area: true, of: (each) => each.queue || 0 },
    { name: "refused", colour: "bad", of: (each) => each.refused || 0 }]);
  lists();
}

function state(name, text, alarm) {
  document.body.dataset.state = name;
  at("state-text").textContent = text;
  at("alarm").hidden = !alarm;
  at("alarm").textContent = alarm || "";
}

function take(data) {
  // A service that was started again counts from 0.
  if (last && data.snapshot.uptime < last.snapshot.uptime) seconds.clear();
  last = data;
  lastAt = Date.now();
  for (const each of data.snapshot.seconds) seconds.set(each.second, each);
  for (const number of seconds.keys()) if (number < data.snapshot.uptime - KEPT) seconds.delete(number);
  at("about").textContent = `${data.replica}, version ${data.version}, up for ${span(data.snapshot.uptime)}`;
  if (data.draining) state("draining", "draining", "The service is shutting down: it answers what it accepted, and takes nothing new.");
  else state("live", "live");
  draw();
}

async function poll() {
  if (polling) return;
  polling = true;
  const after = seconds.size ? Math.max(...seconds.keys()) : -1;
  try {
    const url = new URL("/page/data", location.origin);
    url.search = `after=${after}`;
    const answer = await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!answer.ok) throw new Error(answer.status === 401 || answer.status === 403
      ? "the credential may no longer watch" : `the service answered ${answer.status}`);
    take(await answer.json());
  } catch (error) {
    const why = error.name === "TimeoutError" ? "the service does not answer"
      : error instanceof TypeError ? "the service cannot be reached" : error.message;
    if (Date.now() - lastAt > LOST_AFTER_MS) state("lost", "no data",
      (lastAt ? `No data since ${clock(lastAt)}: ` : "No data: ") + why + ". What is shown is old.");
  }
  polling = false;
}

document.querySelectorAll("nav button").forEach((button) => button.addEventListener("click", () => {
  range = Number(button.dataset.range);
  document.querySelectorAll("nav button").forEach((each) => each.setAttribute("aria-pressed", each === button));
  draw();
}));
addEventListener("resize", draw);
poll();
setInterval(poll, 1000);
