"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const KINDS = { 1: Int8Array, 2: Int16Array, 4: Int32Array, 8: Float64Array };
  const PACKED = ["n", "off", "moe", "total_off", "total_moe", "below"];
  const SVG = document.querySelector("svg").namespaceURI;
  const WINDOW = 200, HITS = 50, ROWS = 100, CHOICES = 1000;
  const ROUGH = "rough, the margin is more than half of the number";
  const whole = new Intl.NumberFormat("en-GB");
  const byId = (id) => document.getElementById(id);

  // ---- data -----------------------------------------------------------------------------------------------------
  const unpacked = ({ bytes, values }) => {
    const text = atob(values), raw = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) raw[i] = text.charCodeAt(i);
    return new KINDS[bytes](raw.buffer);
  };
  const levels = data.levels.map((one) => (
    { name: one.name, ...Object.fromEntries(PACKED.map((name) => [name, unpacked(one[name])])) }));
  const names = data.names, count = names.length, cells = data.cells;
  const level = new Uint8Array(count), first = []; // first: the first place of each level
  const child = new Int32Array(count + 1), parent = new Int32Array(count).fill(-1);
  {
    let place = 0, next = 1;
    levels.forEach((one, at) => {
      first.push(place);
      for (let i = 0; i < one.below.length; i += 1, place += 1) {
        level[place] = at;
        child[place] = next;
        if (at + 1 < levels.length) {
          for (let k = 0; k < one.below[i]; k += 1, next += 1) parent[next] = place;
        }
      }
    });
    child[count] = next;
  }
  const childCount = (p) => child[p + 1] - child[p];
  const hidden = (p) => (level[p] + 1 < levels.length ? 0 : levels[level[p]].below[p - first[level[p]]]);
  const path = (p) => (p < 0 ? [] : [...path(parent[p]), p]);
  // What is told of a cell, or of all cells together (cell −1).
  const told = (p, cell) => {
    const one = levels[level[p]], row = p - first[level[p]], start = row * cells;
    let n = 0;
    for (let c = cell < 0 ? 0 : cell; c < (cell < 0 ? cells : cell + 1); c += 1) n += one.n[start + c];
    const estimate = n + (cell < 0 ? one.total_off[row] : one.off[start + cell]);
    // a margin is there once for all, once for each cell, or for each place and cell
    const moe = cell < 0 ? one.total_moe[row % one.total_moe.length] : one.moe[(start + cell) % one.moe.length];
    const low = Math.max(0, estimate - moe), high = Math.max(0, estimate + moe);
    return { n, estimate, moe, low, high, rough: 2 * moe > n, given: data.known && moe === 0 };
  };
  const labels = (cell) => {
    const found = [];
    for (let at = data.attributes.length - 1, rest = cell; at >= 0; at -= 1) {
      const known = data.attributes[at].labels;
      found.unshift(known[rest % known.length]);
      rest = Math.floor(rest / known.length);
    }
    return found;
  };

  // ---- small makers; text always goes in as text ------------------------------------------------------------------
  const made = (tag, attributes = {}, ...inside) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...inside);
    return node;
  };
  const drawn = (tag, attributes, ...inside) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...inside);
    return node;
  };
  const apart = (name) => `\u2068${name}\u2069`; // a name written from right to left turns nothing else round
  const bar = (one, most) => {
    const at = (value) => (990 * Math.min(value, most)) / most; // the last whisker needs room for its cap
    const low = at(one.low), high = at(one.high);
    const shape = { class: "bar", viewBox: "0 0 1000 16", preserveAspectRatio: "none", "aria-hidden": "true" };
    return drawn("svg", shape,
      drawn("rect", { class: one.rough ? "hatched" : "solid", x: 0, y: 3, width: at(one.n), height: 10 }),
      drawn("line", { class: "axis", x1: 0, x2: 0, y1: 0, y2: 16 }),
      drawn("path", { class: "whisker", d: `M${low} 4V12M${low} 8H${high}M${high} 4V12` }));
  };
  const unseen = (text) => made("span", { class: "unseen" }, text);
  const rough = () => made("span", { class: "rough", title: ROUGH }, "≈ ", unseen("rough, "));
  const numbers = (one, most) => {
    const n = made("td", { class: "n" }, whole.format(one.n));
    if (one.rough) n.prepend(rough());
    return [n,
      made("td", { class: "measured" }, one.given ? "public" : `${whole.format(one.estimate)} ± ${whole.format(one.moe)}`),
      made("td", {}, `${whole.format(one.low)} – ${whole.format(one.high)}`),
      made("td", { class: "picture" }, ...(most > 0 ? [bar(one, most)] : []))];
  };
  const head = (keys, most) => made("thead", {}, made("tr", {},
    ...keys.map((name) => made("th", { scope: "col", class: "key" }, name)),
    made("th", { scope: "col" }, "Number"),
    made("th", { scope: "col", class: "measured" }, "Estimate ±"),
    made("th", { scope: "col" }, `Range, ${data.hundredths} of 100`),
    made("th", { scope: "col", class: "picture" }, made("div", { class: "ends", "aria-hidden": "true" },
      made("span", {}, "0"), made("span", {}, most > 0 ? whole.format(most) : "")), unseen("Picture"))));

  // ---- the chosen place -------------------------------------------------------------------------------------------
  const state = { place: -1, cell: -1, order: "name", rows: ROWS, cellRows: ROWS };
  const article = byId("place");
  const said = byId("said");

  const link = (p) => made("a", { href: `#${p}` }, names[p]);
  const breadcrumbs = (p) => made("nav", { "aria-label": "Where it lies" }, made("ol", { class: "path" },
    ...path(p).map((q) => made("li", {}, q === p ? made("span", { "aria-current": "page" }, names[q]) : link(q)))));

  const sentence = (p) => {
    const one = told(p, -1);
    const [n, estimate, moe, low, high] = [one.n, one.estimate, one.moe, one.low, one.high].map(whole.format);
    if (one.given) return `${apart(names[p])} has ${n} ${data.counts} in all, a public number that was given.`;
    const counted = data.of ? `${data.counts} (${data.of})` : data.counts;
    return `${apart(names[p])} has ${n} ${counted} in all; the estimate is ${estimate} ± ${moe}, `
      + `so the exact number probably lies between ${low} and ${high}. ${data.of_100}`;
  };

  const more = (name, left) => {
    const text = `Show ${whole.format(Math.min(left, ROWS))} more of ${whole.format(left)}`;
    const button = made("button", { type: "button", id: `more-${name}` }, text);
    button.addEventListener("click", () => {
      state[name] += ROWS;
      show();
      (byId(`more-${name}`) || article).focus({ preventScroll: true });
    });
    return button;
  };

  const cellTable = (p) => {
    const every = Array.from({ length: cells }, (_, cell) => told(p, cell));
    const most = every.reduce((best, one) => Math.max(best, one.n, one.high), 0);
    const shown = Math.min(cells, state.cellRows), keys = data.attributes.map((one) => one.name);
    const body = made("tbody");
    if (cells > 1) {
      const all = made("th", { scope: "row", class: "key", colspan: keys.length }, "All together");
      body.append(made("tr", { class: "all" }, all, ...numbers(told(p, -1), 0)));
    }
    for (let cell = 0; cell < shown; cell += 1) {
      const heads = (keys.length ? labels(cell) : ["All together"]);
      const row = heads.map((label) => made("th", { scope: "row", class: "key" }, label));
      body.append(made("tr", {}, ...row, ...numbers(every[cell], most)));
    }
    const caption = made("caption", {}, `Numbers of ${data.counted}. ${data.columns}`);
    const table = made("table", { class: "values" }, caption, head(keys.length ? keys : [""], most), body);
    const parts = [made("div", { class: "scroll" }, table)];
    if (shown < cells) parts.push(more("cellRows", cells - shown));
    return parts;
  };

  const choice = (name, label, options, value) => {
    const select = made("select", { id: name }, ...options.map(([key, text]) => made("option", { value: key }, text)));
    select.value = value;
    select.addEventListener("change", () => {
      state[name] = name === "cell" ? Number(select.value) : select.value;
      state.rows = ROWS;
      show();
      byId(name).focus();
    });
    return made("div", {}, made("label", { for: name }, label), select);
  };

  const childTable = (p) => {
    const inside = Array.from({ length: childCount(p) }, (_, at) => child[p] + at);
    const values = new Map(inside.map((q) => [q, told(q, state.cell)]));
    if (state.order === "most") inside.sort((a, b) => values.get(b).n - values.get(a).n || a - b);
    const most = inside.reduce((best, q) => Math.max(best, values.get(q).n, values.get(q).high), 0);
    const shown = inside.slice(0, state.rows), kind = levels[level[p] + 1].name;
    const named = (_, cell) => [String(cell), labels(cell).map(apart).join(", ")];
    const listed = Array.from({ length: Math.min(cells, CHOICES) }, named);
    const attributes = data.attributes.map((one) => one.name).join(", ");
    const which = choice("cell", attributes, [["-1", "all together"], ...listed], String(state.cell));
    const order = choice("order", "Order", [["name", "by name"], ["most", "largest first"]], state.order);
    const body = made("tbody", {}, ...shown.map((q) => made("tr", {},
      made("th", { scope: "row", class: "key" }, link(q)), ...numbers(values.get(q), most))));
    const many = whole.format(inside.length);
    const caption = made("caption", {}, `${many} × ${kind}. Their numbers add up to those above.`);
    const table = made("table", { class: "values" }, caption, head([kind], most), body);
    const choices = made("div", { class: "choices" }, ...(cells > 1 ? [which, order] : [order]));
    const parts = [made("h3", {}, `Inside ${names[p]}`), choices, made("div", { class: "scroll" }, table)];
    if (shown.length < inside.length) parts.push(more("rows", inside.length - shown.length));
    return parts;
  };

  const show = () => {
    const p = state.place;
    const parts = [...(parent[p] < 0 ? [] : [breadcrumbs(p)]), made("h2", { id: "chosen" }, names[p]),
      made("p", { class: "soft" }, `Level: ${levels[level[p]].name}`), made("p", {}, sentence(p)), ...cellTable(p)];
    if (childCount(p)) parts.push(...childTable(p));
    if (hidden(p)) parts.push(made("p", {}, `The ${whole.format(hidden(p))} places inside are in table.csv.`));
    article.replaceChildren(...parts);
    if (article.querySelector(".rough")) article.append(made("p", { class: "soft" }, `≈ and a hatched bar: ${ROUGH}.`));
    document.title = `${apart(names[p])} – ${data.title}`;
  };

  const choose = (p) => {
    if (p === state.place) return;
    Object.assign(state, { place: p, rows: ROWS, cellRows: ROWS });
    show();
    reveal(p);
    const one = told(p, -1);
    const [n, estimate, moe] = [one.n, one.estimate, one.moe].map(whole.format);
    said.textContent = one.given ? `${apart(names[p])}: ${n}, public.`
      : `${apart(names[p])}: ${n}, estimated ${estimate} plus or minus ${moe}.`;
  };
  const go = (p) => {
    choose(p);
    if (location.hash !== `#${p}`) location.hash = `#${p}`;
  };
  const fromHash = () => {
    const digits = /^#?(\d*)$/.exec(location.hash);
    if (digits) choose(Math.min(Number(digits[1]), count - 1));
  };

  // ---- the tree: only opened places have their children drawn, and never more than a window of them ---------------
  const tree = byId("tree");
  const opened = new Set([0]), windows = new Map();
  const branch = (attributes, sign, name, deep) => {
    const li = made("li", { role: "treeitem", tabindex: "-1", ...attributes });
    if (deep) li.dataset.deep = "";
    li.append(made("div", { class: "row" }, made("span", { class: "twist", "aria-hidden": "true" }, sign), name));
    return li;
  };
  const item = (p) => {
    const above = parent[p], inner = childCount(p) > 0, open = opened.has(p);
    const li = branch({
      id: `t${p}`,
      "aria-labelledby": `n${p}`,
      "aria-level": level[p] + 1,
      "aria-setsize": above < 0 ? 1 : childCount(above),
      "aria-posinset": above < 0 ? 1 : p - child[above] + 1,
      "aria-selected": String(p === state.place),
      ...(inner ? { "aria-expanded": String(open) } : {}),
    }, inner ? (open ? "▾" : "▸") : "·", made("span", { class: "name", id: `n${p}` }, names[p]), level[p] > 5);
    if (inner && open) li.append(group(p));
    return li;
  };
  const pager = (p, start, text) => branch({ "aria-level": level[p] + 2, "data-parent": p, "data-start": start }, "…",
    made("span", { class: "name soft" }, text), level[p] > 4);
  const group = (p) => {
    const start = windows.get(p) || 0, end = Math.min(childCount(p), start + WINDOW);
    const ul = made("ul", { role: "group" });
    if (start > 0) ul.append(pager(p, Math.max(0, start - WINDOW), `${whole.format(start)} before these`));
    for (let at = start; at < end; at += 1) ul.append(item(child[p] + at));
    if (end < childCount(p)) ul.append(pager(p, end, `${whole.format(childCount(p) - end)} after these`));
    return ul;
  };
  const redraw = (p) => {
    const old = byId(`t${p}`), fresh = item(p);
    const focused = old.contains(document.activeElement);
    const stop = old.tabIndex === 0 || old.querySelector('[tabindex="0"]');
    old.replaceWith(fresh);
    if (stop || focused) setStop(fresh);
    if (focused) fresh.focus();
    return fresh;
  };
  const setStop = (li) => {
    tree.querySelectorAll('[tabindex="0"]').forEach((one) => { one.tabIndex = -1; });
    li.tabIndex = 0;
  };
  const focusOn = (li) => { if (li) { setStop(li); li.focus(); li.firstChild.scrollIntoView({ block: "nearest" }); } };
  const placeOf = (li) => Number(li.id.slice(1));
  const setOpen = (p, open) => {
    if (!childCount(p) || opened.has(p) === open) return;
    if (open) opened.add(p); else opened.delete(p);
    redraw(p);
  };
  const turnPage = (li) => {
    const p = Number(li.dataset.parent), start = Number(li.dataset.start);
    windows.set(p, start);
    redraw(p);
    focusOn(byId(`t${child[p] + start}`));
  };
  const reveal = (p) => {
    for (const q of path(p).slice(0, -1)) {
      const next = path(p)[level[q] + 1] - child[q], start = windows.get(q) || 0;
      if (next < start || next >= start + WINDOW) windows.set(q, Math.floor(next / WINDOW) * WINDOW);
      const drawnAlready = opened.has(q) && byId(`t${child[q] + next}`);
      opened.add(q);
      if (!drawnAlready) redraw(q);
    }
    tree.querySelectorAll('[aria-selected="true"]').forEach((one) => one.setAttribute("aria-selected", "false"));
    const li = byId(`t${p}`);
    li.setAttribute("aria-selected", "true");
    setStop(li);
    const box = tree.getBoundingClientRect(), row = li.firstChild.getBoundingClientRect();
    if (row.top < box.top || row.bottom > box.bottom) tree.scrollTop += row.top - box.top - box.height / 3;
  };
  const act = (li) => { if (li.dataset.parent) turnPage(li); else go(placeOf(li)); };

  tree.addEventListener("click", (event) => {
    const li = event.target.closest("li");
    if (!li) return;
    const twist = event.target.classList.contains("twist");
    setStop(li);
    if (twist && li.hasAttribute("aria-expanded")) setOpen(placeOf(li), !opened.has(placeOf(li)));
    else act(li);
  });
  let typed = "", typedAt = 0;
  tree.addEventListener("keydown", (event) => {
    const li = event.target.closest("li");
    if (!li || event.ctrlKey || event.altKey || event.metaKey) return;
    const every = [...tree.querySelectorAll("li")], at = every.indexOf(li), page = li.dataset.parent;
    const keys = {
      ArrowDown: () => focusOn(every[at + 1]),
      ArrowUp: () => focusOn(every[at - 1]),
      Home: () => focusOn(every[0]),
      End: () => focusOn(every[every.length - 1]),
      Enter: () => act(li),
      " ": () => act(li),
      ArrowRight: () => {
        if (page || !childCount(placeOf(li))) return;
        if (opened.has(placeOf(li))) focusOn(li.querySelector("li")); else setOpen(placeOf(li), true);
      },
      ArrowLeft: () => {
        if (!page && opened.has(placeOf(li)) && childCount(placeOf(li))) setOpen(placeOf(li), false);
        else focusOn(li.parentElement.closest("li"));
      },
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    } else if (event.key.length === 1) {
      typed = event.timeStamp - typedAt < 700 ? typed + event.key : event.key;
      typedAt = event.timeStamp;
      const from = typed.length > 1 ? at : at + 1;
      const order = [...every.slice(from), ...every.slice(0, from)];
      focusOn(order.find((one) => plain(one.querySelector(".name").textContent).startsWith(plain(typed))));
    }
  });

  // ---- search -----------------------------------------------------------------------------------------------------
  const search = byId("search"), hits = byId("hits"), found = byId("found");
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  let folded = null;
  const look = () => {
    const wanted = plain(search.value.trim());
    folded = folded || names.map(plain);
    const matches = [];
    let total = 0;
    for (let p = 0; wanted && p < count; p += 1) {
      if (!folded[p].includes(wanted)) continue;
      total += 1;
      if (matches.length < HITS) matches.push(p);
    }
    const above = (p) => made("span", {}, path(parent[p]).map((q) => apart(names[q])).join(" › "));
    hits.replaceChildren(...matches.map((p) => made("li", {},
      made("button", { type: "button", "data-place": p }, names[p], above(p)))));
    const listed = total > HITS ? `, the first ${HITS} are listed` : "";
    found.textContent = wanted ? `Places found: ${whole.format(total)}${listed}.` : "";
  };
  const pick = (p) => { search.value = ""; look(); go(p); focusOn(byId(`t${p}`)); };
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    const one = hits.querySelector("button");
    if (event.key === "ArrowDown" && one) { event.preventDefault(); one.focus(); }
    if (event.key === "Enter" && one) { event.preventDefault(); pick(Number(one.dataset.place)); }
    if (event.key === "Escape") { search.value = ""; look(); }
  });
  hits.addEventListener("click", (event) => {
    const one = event.target.closest("button");
    if (one) pick(Number(one.dataset.place));
  });
  hits.addEventListener("keydown", (event) => {
    const li = event.target.closest("li");
    const next = { ArrowDown: li.nextElementSibling || li, ArrowUp: li.previousElementSibling }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      (next ? next.firstChild : search).focus();
    }
    if (event.key === "Escape") { search.value = ""; look(); search.focus(); }
  });

  // ---- begin ------------------------------------------------------------------------------------------------------
  if (!count) return;
  tree.append(made("ul", { role: "tree", "aria-label": "Places" }, item(0)));
  document.querySelectorAll("[data-needs-script]").forEach((one) => { one.hidden = false; });
  window.addEventListener("hashchange", fromHash);
  choose(0);
  fromHash();
})();
