// What the pages do beyond showing: ask while words are typed, follow keys, keep a long conversation smooth, choose days
// by dragging, copy, and follow what runs. Every page works without it. All HTML comes from the server, which escapes it.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const box = $("#q");
const ended = "convtools web has ended. Start it again to go on.";
document.documentElement.classList.add("scripted");

// say shows a sentence at the bottom for some seconds, or until the next.
let silence;
function say(sentence, lasts = 4000) {
  clearTimeout(silence);
  $("#notice").textContent = sentence;
  if (lasts) silence = setTimeout(() => { $("#notice").textContent = ""; }, lasts);
}

// get returns the HTML of a page, or null where the server has ended or refuses.
async function get(address, signal) {
  try {
    const answer = await fetch(address, { signal });
    const html = await answer.text();
    if (answer.ok) {
      if ($("#notice").textContent === ended) say("", 0);
      return html;
    }
    say($(".problem", parsed(html))?.textContent ?? "The page could not be read.");
  } catch (error) {
    if (error.name !== "AbortError") say(ended, 0);
  }
  return null;
}

const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

// replace shows new HTML in an element.
function replace(element, html) {
  element.replaceChildren(...parsed(html).body.childNodes);
}

// Asking while words are typed.
let asking;
async function ask() {
  const results = $("#results");
  if (!results) return;
  asking?.abort();
  asking = new AbortController();
  const address = new URL("/?" + new URLSearchParams(new FormData(box.form)), location.href);
  if (!box.value.trim()) address.searchParams.delete("q");
  const shown = new URL(address);
  address.searchParams.set("part", "results");
  const html = await get(box.value.trim() ? address : shown, asking.signal);
  if (html === null) return;
  if (box.value.trim()) replace(results, html);
  else results.replaceChildren(...$("#results", parsed(html)).childNodes);
  history.replaceState(null, "", shown);
}

let typed;
box.addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(ask, 60); // milliseconds: a fast typist's time between keys
});

// Keys.
const rows = () => $$("a.row, .call > summary, .requests a, .items a").filter((row) => row.offsetParent);

function move(step) {
  const all = rows();
  const at = all.indexOf(document.activeElement);
  const to = at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step;
  if (to < 0) return box.focus();
  all[Math.min(to, all.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("#keys").open) return;
  const writes = event.target.matches("input, select, textarea");
  const inBox = event.target === box;
  if (event.key === "Escape" && inBox) {
    event.preventDefault(); // a browser empties the box itself
    if (!box.value) return box.blur();
    box.value = "";
    return ask();
  }
  if (event.key === "Escape" && !writes) return box.focus();
  if (event.key === "ArrowDown" && (inBox || !writes)) {
    event.preventDefault();
    return move(1);
  }
  if (event.key === "ArrowUp" && !writes) {
    event.preventDefault();
    return move(-1);
  }
  if (writes) return;
  if (event.key === "/") {
    event.preventDefault();
    box.focus();
    box.select();
  }
  if (event.key === "?") $("#keys").showModal();
});

// Copying.
function copyButtons(within) {
  const id = $("#entries")?.dataset.conversation;
  for (const number of $$(".entry .number", within)) {
    const button = document.createElement("button");
    button.className = "copy";
    button.dataset.copy = `${id}:${number.textContent}`;
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy the id of event ${number.textContent}`);
    (number.nextElementSibling?.matches("time") ? number.nextElementSibling : number).after(button);
  }
}

document.addEventListener("click", async (event) => {
  const text = event.target.closest("[data-copy]")?.dataset.copy;
  if (text === undefined) return;
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${text}`);
  } catch {
    say(`Copy it yourself: ${text}`, 10000);
  }
});

// A long conversation: parts are added as they come near, and the farthest are taken away.
const entries = $("#entries");
const mostParts = 5;
const near = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) addPart(one.target);
}, { rootMargin: "1500px 0px" });

async function addPart(turn) {
  near.unobserve(turn);
  const part = turn.closest(".part");
  const link = $("a", turn);
  const forward = link.rel === "next";
  const html = await get(`${link.href}&part=entries`);
  if (html === null) return near.observe(turn);
  const added = $(".part", parsed(html));
  if (!added) return;
  settle(added);
  const height = document.documentElement.scrollHeight;
  if (forward) part.after(added);
  else part.before(added);
  turn.hidden = true;
  $(forward ? "[rel=prev]" : "[rel=next]", added).parentElement.hidden = true;
  if (!forward) scrollBy({ top: document.documentElement.scrollHeight - height, behavior: "instant" });
  trim(forward);
  observe();
}

// trim takes away the parts that are farthest from the one that was added.
function trim(forward) {
  const parts = $$(".part", entries);
  if (parts.length <= mostParts) return;
  const away = forward ? parts[0] : parts.at(-1);
  const height = document.documentElement.scrollHeight;
  away.remove();
  const edge = $(forward ? "[rel=prev]" : "[rel=next]", $$(".part", entries).at(forward ? 0 : -1));
  if (edge) edge.parentElement.hidden = false;
  if (forward) scrollBy({ top: document.documentElement.scrollHeight - height, behavior: "instant" });
}

function observe() {
  for (const turn of $$(".part > .turn:not([hidden])", entries)) near.observe(turn);
}

// settle makes addresses of events in a part work from this page, and lets them be copied.
function settle(part) {
  copyButtons(part);
  for (const link of $$(".number", part)) {
    link.href = `/c/${entries.dataset.conversation}?event=${link.textContent}#event-${link.textContent}`;
  }
}

// reveal opens what hides the event in the address, or goes to the page that has it.
function reveal() {
  const event = /^#event-(\d+)$/.exec(location.hash)?.[1];
  if (!event || !entries) return;
  const element = document.getElementById(`event-${event}`);
  if (!element) return location.replace(`?event=${event}#event-${event}`);
  for (let at = element; at; at = at.parentElement) if (at.matches("details")) at.open = true;
  const call = $(":scope > details", element);
  if (call) call.open = true;
  element.scrollIntoView({ block: "start", behavior: "instant" });
}

// follow marks the request that is being read.
let followed;
function follow() {
  const top = 120; // pixels, below the bar
  let now;
  for (const entry of $$(".entry.user", entries)) {
    if (entry.getBoundingClientRect().top > top) break;
    now = entry.id;
  }
  if (now === followed) return;
  followed = now;
  $(".requests .now")?.classList.remove("now");
  $(`.requests a[href$="#${now}"]`)?.classList.add("now");
}

if (entries) {
  $$(".part", entries).forEach(settle);
  reveal();
  observe();
  follow();
  addEventListener("hashchange", reveal);
  let waits = false;
  addEventListener("scroll", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => { waits = false; follow(); });
  }, { passive: true });
}

// Choosing days by dragging over them.
const strip = $(".days > svg");
if (strip) {
  let first = null;
  const dayAt = (event) => document.elementFromPoint(event.clientX, strip.getBoundingClientRect().top + 4)?.closest("[data-day]")?.dataset.day;
  const between = (a, b) => (a < b ? [a, b] : [b, a]);
  const paint = (from, to) => {
    for (const day of $$("[data-day]", strip)) {
      $(".day", day).classList.toggle("within", from !== undefined && from <= day.dataset.day && day.dataset.day <= to);
    }
  };
  strip.addEventListener("dragstart", (event) => event.preventDefault());
  strip.addEventListener("pointerdown", (event) => { first = dayAt(event) ?? null; });
  strip.addEventListener("pointermove", (event) => {
    const day = dayAt(event);
    if (first && day) paint(...between(first, day));
  });
  addEventListener("pointerup", (event) => {
    const last = first && dayAt(event);
    if (first && last && first !== last) {
      const [from, to] = between(first, last);
      const address = new URL(location.href);
      address.searchParams.set("from", from);
      address.searchParams.set("to", to);
      address.searchParams.delete("page");
      location.assign(address);
    }
    first = null;
    paint();
  });
  strip.addEventListener("click", (event) => {
    if ($(".day.within", strip)) event.preventDefault();
  }, true);
}

// What runs: the server sends the items whenever they change. A browser has few connections to a server for all of its
// tabs, so one tab listens and tells the others; another takes its place when it is closed.
const items = $("#items[data-live]");
if (items) {
  const address = items.dataset.live;
  const tabs = new BroadcastChannel(address);
  tabs.onmessage = (event) => replace(items, event.data);
  navigator.locks.request(address, () => new Promise(() => {
    const stream = new EventSource(address);
    stream.onmessage = (event) => {
      replace(items, event.data);
      tabs.postMessage(event.data);
    };
    stream.onerror = () => say(ended, 0);
    stream.onopen = () => say("", 0);
  }));
}

// The server ends an hour after the last page was closed: an open one says that it is there.
const minute = 60000;
setInterval(() => get("/alive"), 10 * minute);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) get("/alive");
});
