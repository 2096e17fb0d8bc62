// The page around the map: time, lanes, panels, keys.

const SPEEDS = [1, 2, 4, 8, 12, 16, 24, 32, 48, 60];
const STAGES = { R: "reasoning", W: "waiting", X: "executing", I: "interrupted", G: "gone" };
const SIGNS = { todo: "·", running: "▸", done: "✓", failed: "✗", cancelled: "–" };
const KEYS = [
  ["space", "play, pause"], ["← →", "one step; with shift ten"], ["+ −", "faster, slower"], ["home, end", "first, last step"],
  ["tab, click", "choose an agent (tab while the map has the focus; esc leaves it)"], ["m p r", "messages, plans, repair"],
  ["n", "next repair, failure, score"], ["f", "follow the chosen agent"], ["wheel, drag", "zoom, move the map"],
  ["0", "whole map"], ["g", "ids and labels"], ["s", "save a picture of the map"], ["h", "this help"],
];
const SHOWN_AT_ONCE = 80;
const CHIPS_UP_TO = 40;
const ROW = { few: 20, many: 12 };
const AXIS_LEFT = 44;
const SLOW_ENOUGH = 12;

const $ = (id) => document.getElementById(id);

// An element; text is always set as text, never read as markup.
function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") element.textContent = value;
    else if (name === "style") Object.assign(element.style, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function plainNumber(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(Math.abs(value) < 1 ? 3 : 2);
}

class Page {
  constructor(run) {
    this.run = run;
    this.view = { step: 0, chosen: 0, plans: true, talk: true, repair: true, grid: true, follow: false, tab: "agent" };
    this.playing = false;
    this.speed = 3;
    this.shownMessages = SHOWN_AT_ONCE;
    this.filter = { agent: null, kind: "", text: "" };
    this.map = new WorldMap(run, $("map"), this.view);
    this.rowHeight = run.agents > CHIPS_UP_TO ? ROW.many : ROW.few;
  }

  async start() {
    await this.map.load();
    this.head();
    this.wire();
    this.summary();
    this.showTab("agent");
    this.go(0);
    $("map").focus({ preventScroll: true });
  }

  head() {
    const { run } = this, kind = run.start.topology && run.start.topology.kind;
    $("name").textContent = run.name;
    const planners = [...new Set(run.start.planners)].join(", ");
    const ended = run.end ? `ended by ${run.end.by}${run.end.detail ? ` (${run.end.detail})` : ""}` : "not finished";
    $("facts").textContent = [run.world + (run.start.preset ? `:${run.start.preset}` : ""), `${run.agents} agents`, kind, planners, `seed ${run.start.seed}`, ended].filter(Boolean).join(" · ");
    for (const stage of "RWXI") {
      const color = run.colors.stages[stage];
      $("legend").append(make("span", {}, make("span", { class: "stage-letter", text: stage, style: { background: color, color: readable(color) } }), STAGES[stage]));
    }
    if (run.textLimit !== null) {
      const what = run.textLimit ? `cut to ${run.textLimit} characters` : "left out";
      $("notice").textContent = `To keep this page small the texts of messages are ${what}; everything else is whole.`;
      $("notice").hidden = false;
    }
    for (const [key, does] of KEYS) $("keys").append(make("dt", { text: key }), make("dd", { text: does }));
    for (const kindName of ["", ...run.kinds]) $("filter-kind").append(make("option", { value: kindName, text: kindName || "every kind" }));
    $("filter-agent").max = run.agents - 1;
    $("scrubber").max = run.steps;
  }

  // --- time ---

  go(step, { share = 1 } = {}) {
    const { run, view } = this;
    step = Math.max(0, Math.min(run.steps, Math.round(step)));
    const isNext = step === view.step + 1 && run.at === view.step;
    this.map.before = isNext ? run.now.agent_cell.slice() : null;
    run.go(step);
    view.step = step;
    document.documentElement.dataset.step = step;
    $("scrubber").value = step;
    $("now-step").textContent = `${step}/${run.steps}`;
    $("now-score").textContent = plainNumber(run.score(step));
    $("now-clock").textContent = `${run.clock(step).toFixed(1)} s`;
    this.map.draw(step, share);
    this.lanes();
    this.track();
    this.panel();
  }

  play(on = !this.playing) {
    if (on && this.view.step >= this.run.steps) this.go(0);
    this.playing = on;
    $("play").textContent = on ? "❚❚" : "▶";
    if (on) {
      this.since = performance.now();
      requestAnimationFrame((now) => this.tick(now));
    }
  }

  tick(now) {
    if (!this.playing) return;
    const each = 1000 / SPEEDS[this.speed];
    if (now - this.since >= each) {
      const ahead = Math.floor((now - this.since) / each);
      this.since += ahead * each;
      if (this.view.step >= this.run.steps) { this.play(false); return; }
      this.go(this.view.step + ahead, { share: this.isSmooth() ? 0 : 1 });
    } else if (this.isSmooth() && this.map.before) {
      const share = Math.min(1, (now - this.since) / (each * 0.8));
      this.map.draw(this.view.step, share);
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  isSmooth() { return SPEEDS[this.speed] <= SLOW_ENOUGH && !matchMedia("(prefers-reduced-motion: reduce)").matches; }

  setSpeed(place) {
    this.speed = Math.max(0, Math.min(SPEEDS.length - 1, place));
    $("speed").value = this.speed;
    $("speed-text").textContent = `${SPEEDS[this.speed]} steps/s`;
    this.since = performance.now();
  }

  jump(step) { this.play(false); this.go(step); }

  nextMark() {
    const { marks } = this.run;
    if (!marks.length) return;
    const mark = marks.find((other) => other.step > this.view.step) || marks[0];
    if (mark.agent !== undefined) this.view.chosen = mark.agent;
    this.jump(mark.step);
    this.say(mark.text);
  }

  say(text) {
    const tip = $("tip");
    tip.textContent = text;
    tip.hidden = false;
    Object.assign(tip.style, { left: "12px", top: "48px" });
    clearTimeout(this.hush);
    this.hush = setTimeout(() => { tip.hidden = true; }, 2600);
  }

  choose(agent) {
    this.view.chosen = (agent + this.run.agents) % this.run.agents;
    this.redraw();
    this.reveal();
  }

  reveal() {
    const box = $("lanes"), top = this.view.chosen * this.rowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + this.rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + this.rowHeight - box.clientHeight;
  }

  redraw() { this.map.draw(this.view.step); this.lanes(); this.track(); this.panel(); }

  // --- the track of scores and the lanes of stages ---

  axis() { return $("axis").value; }

  // x of the middle of a step, or of a moment on the clock, in a strip of that width.
  xOf(step, width) {
    const { run } = this;
    if (this.axis() === "step") return (step + 0.5) * width / (run.steps + 1);
    return this.xOfMs((run.stepMs[step] + run.spanEnd(step)) / 2, width);
  }

  xOfMs(ms, width) { return this.run.endMs ? ms * width / this.run.endMs : 0; }

  stepOf(x, width) {
    const { run } = this;
    if (this.axis() === "step") return Math.max(0, Math.min(run.steps, Math.floor(x * (run.steps + 1) / width)));
    return Math.max(0, lastAt(run.stepMs, x * run.endMs / width, (ms) => ms));
  }

  sharp(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    return pen;
  }

  track() {
    const { run, view } = this, canvas = $("score"), { width, height } = canvas.getBoundingClientRect();
    const pen = this.sharp(canvas, width, height), floor = height - 14, best = Math.max(1e-9, ...run.scores.map((score) => score[4]));
    pen.strokeStyle = css("--score");
    pen.lineWidth = 1.6;
    pen.beginPath();
    let y = floor;
    pen.moveTo(0, y);
    for (const [step, , , , total] of run.scores) {
      const x = this.xOf(Math.min(step, run.steps), width);
      pen.lineTo(x, y);
      y = floor - total / best * (floor - 16);
      pen.lineTo(x, y);
    }
    pen.lineTo(width, y);
    pen.stroke();
    pen.fillStyle = css("--bad");
    for (const [step] of run.failures) if (step <= run.steps) pen.fillRect(this.xOf(step, width) - 1, floor + 3, 2, 5);
    for (const channel of run.channels) if (channel.step <= run.steps) star(pen, this.xOf(channel.step, width), 8, 6.5, run.colors.repair);
    const at = this.xOf(view.step, width);
    pen.fillStyle = css("--accent");
    pen.fillRect(at - 1, 0, 2, height);
  }

  lanes() {
    const { run, view, rowHeight: high } = this, box = $("lanes"), canvas = $("timeline");
    $("lanes-space").style.height = `${run.agents * high}px`;
    const width = box.clientWidth, height = Math.min(run.agents * high, parseFloat(getComputedStyle(box).maxHeight) || 150);
    canvas.style.height = `${height}px`;
    $("track").style.marginRight = `${box.offsetWidth - width}px`;
    const pen = this.sharp(canvas, width, height), inner = width - AXIS_LEFT;
    const first = Math.floor(box.scrollTop / high), last = Math.min(run.agents, Math.ceil((box.scrollTop + height) / high));
    for (let agent = first; agent < last; agent++) this.lane(pen, agent, agent * high - box.scrollTop, inner);
    const at = AXIS_LEFT + this.xOf(view.step, inner);
    pen.fillStyle = "rgba(0,0,0,.55)";
    pen.fillRect(at - 2, 0, 4, height);
    pen.fillStyle = "#ffffff";
    pen.fillRect(at - 1, 0, 2, height);
  }

  lane(pen, agent, top, inner) {
    const { run, view, rowHeight: high } = this, isChosen = agent === view.chosen;
    pen.fillStyle = this.map.identity(agent);
    pen.fillRect(0, top + 1, 5, high - 2);
    pen.fillStyle = css(isChosen ? "--text" : "--dim");
    pen.font = `${isChosen ? 700 : 400} ${Math.min(12, high - 1)}px system-ui, sans-serif`;
    [pen.textAlign, pen.textBaseline] = ["right", "middle"];
    pen.fillText(String(agent), AXIS_LEFT - 8, top + high / 2 + 0.5);
    for (const [stage, from, to] of this.pieces(agent)) {
      const x = AXIS_LEFT + from * inner, wide = (to - from) * inner, color = run.colors.stages[stage];
      pen.fillStyle = color || css("--line");
      pen.fillRect(x, top + 1, Math.max(0.6, wide), high - 2);
      if (wide > 13 && high >= ROW.few && color) {
        pen.fillStyle = readable(color);
        pen.font = "600 10.5px system-ui, sans-serif";
        pen.textAlign = "left";
        pen.fillText(stage, x + 3, top + high / 2 + 0.5);
      }
    }
    if (isChosen) {
      [pen.strokeStyle, pen.lineWidth] = [css("--text"), 1.5];
      pen.strokeRect(AXIS_LEFT + 0.5, top + 0.8, inner - 1.5, high - 1.6);
    }
  }

  // Stages of an agent as [letter, from, to], from and to being shares of the axis.
  pieces(agent) {
    const { run } = this, axis = this.axis();
    this.known = this.known && this.known.axis === axis ? this.known : { axis, of: new Map() };
    if (this.known.of.has(agent)) return this.known.of.get(agent);
    const pieces = [];
    if (axis === "step") {
      const shown = run.shown[agent], whole = run.steps + 1;
      for (let from = 0, to = 0; from < whole; from = to) {
        while (to < whole && shown[to] === shown[from]) to++;
        pieces.push([shown[from], from / whole, to / whole]);
      }
    } else {
      run.stages[agent].forEach(([stage, ms], place, all) => {
        const until = place + 1 < all.length ? all[place + 1][1] : run.endMs;
        if (until > ms) pieces.push([stage, ms / run.endMs, until / run.endMs]);
      });
    }
    this.known.of.set(agent, pieces);
    return pieces;
  }

  laneAt(event) {
    const box = $("timeline").getBoundingClientRect(), y = event.clientY - box.top + $("lanes").scrollTop;
    return { agent: Math.floor(y / this.rowHeight), step: this.stepOf(event.clientX - box.left - AXIS_LEFT, box.width - AXIS_LEFT) };
  }

  // --- panels ---

  showTab(name) {
    this.view.tab = name;
    for (const tab of document.querySelectorAll("[data-tab]")) {
      tab.setAttribute("aria-selected", tab.dataset.tab === name);
      $(`tab-${tab.dataset.tab}`).hidden = tab.dataset.tab !== name;
    }
    this.panel();
  }

  panel() {
    const show = { agent: () => this.agentPanel(), messages: () => this.messagePanel(), repair: () => this.repairPanel() }[this.view.tab];
    if (show) show();
  }

  agentPanel() {
    const { run, view } = this, agent = view.chosen, panel = $("tab-agent"), top = panel.scrollTop;
    const parts = [this.chooser(), this.person(agent)];
    if (run.now.inventory) parts.push(this.holdings(agent));
    const plan = run.plan(agent, view.step);
    parts.push(make("h3", { text: "plan" }), plan ? this.planCard(plan, view.step) : make("p", { class: "dim", text: "no plan" }));
    const past = run.plansOf[agent].filter((other) => other.ended !== null && other.ended <= view.step).reverse();
    if (past.length) parts.push(make("h3", { text: `plans that ended (${past.length})` }), this.history(past.slice(0, 30)));
    const tried = this.attempts(agent);
    if (tried.length) parts.push(make("h3", { text: `attempts (${tried.length})` }), this.tried(tried.slice(-12).reverse()));
    panel.replaceChildren(...parts);
    panel.scrollTop = top;
  }

  chooser() {
    const { run, view } = this;
    if (run.agents > CHIPS_UP_TO) {
      const field = make("input", { type: "number", min: 0, max: run.agents - 1, value: view.chosen, "aria-label": "agent",
        onchange: (event) => this.choose(Math.max(0, Math.min(run.agents - 1, Number(event.target.value) || 0))) });
      return make("div", { class: "chooser" }, make("button", { text: "‹", title: "the agent before", onclick: () => this.choose(view.chosen - 1) }), field,
        make("button", { text: "›", title: "the next agent", onclick: () => this.choose(view.chosen + 1) }), make("span", { class: "dim", text: `of ${run.agents}` }));
    }
    const chips = Array.from({ length: run.agents }, (_, agent) => {
      const color = this.map.identity(agent);
      return make("button", { text: agent, "aria-pressed": agent === view.chosen, style: { background: color, color: readable(color) }, onclick: () => this.choose(agent) });
    });
    return make("div", { class: "agents" }, ...chips);
  }

  person(agent) {
    const { run, view } = this, color = this.map.identity(agent), stage = run.stage(agent, view.step), [row, column] = run.cell(agent);
    const back = run.colors.stages[stage] || "#7f7f7f";
    return make("div", { class: "who" },
      make("span", { class: "badge", text: agent, style: { background: color, color: readable(color) } }),
      make("span", {}, make("span", { class: "name", text: `agent_${agent}` }), make("span", { class: "dim", text: row < 0 ? "  gone" : `  at (${row},${column})`, id: "chosen-cell" })),
      make("span", { class: "pill", text: STAGES[stage] || "–", style: { background: back, color: readable(back) } }));
  }

  holdings(agent) {
    const { run } = this, names = run.legend.inventory, count = run.layers.inventory.shape[1], size = run.atlas.size;
    const box = make("div", { class: "holdings" });
    for (let item = 0; item < count; item++) {
      const amount = run.now.inventory[agent * count + item];
      if (item >= 4 && !amount) continue;
      const place = run.atlas.places[`item:${names[item]}`];
      const icon = make("i", { role: "img", "aria-label": names[item], style: {
        backgroundImage: `url(${run.atlas.uri})`, backgroundSize: "auto 24px", backgroundPosition: `-${place * 24}px 0` } });
      box.append(make("span", { title: names[item], class: item < 4 && amount <= 3 ? "bad" : "" }, icon, String(amount)));
    }
    return box;
  }

  planCard(plan, step) {
    const list = make("ol", { class: "actions" });
    for (const action of plan.actions) {
      const status = this.run.status(action, step);
      const why = status === "failed" && action[2] ? ` — ${action[2]}` : "";
      list.append(make("li", { class: status }, make("span", { class: "sign", text: SIGNS[status], title: status }), make("span", { text: action[0] + why })));
    }
    const resumed = plan.resumed.filter((at) => at <= step).length;
    const since = `${plan.id}, since step ${plan.step}${resumed ? `, resumed ${resumed}×` : ""}`;
    return make("div", { class: "card" },
      make("div", { class: "title" }, make("span", { class: "task", text: plan.task }), make("span", { class: "dim grow", text: since })),
      list, plan.note ? make("p", { class: "quote", text: `“${plan.note}”` }) : null);
  }

  history(plans) {
    const box = make("div", { class: "past" });
    for (const plan of plans) {
      const tone = { success: "good", failed: "bad" }[plan.status] || "dim";
      box.append(make("button", { text: `step ${plan.ended}`, onclick: () => this.jump(plan.ended) }),
        make("span", { text: plan.task + (plan.reason ? ` — ${plan.reason}` : "") }),
        make("span", { class: tone, text: plan.status + (plan.result && plan.result !== "unknown" ? `, ${plan.result}` : "") }));
    }
    return box;
  }

  attempts(agent) {
    const { run, view } = this;
    if (!run.attemptsOf.has(agent)) run.attemptsOf.set(agent, run.attempts.filter(([, , , , , members]) => members.includes(agent)));
    return run.attemptsOf.get(agent).filter(([step]) => step <= view.step);
  }

  tried(attempts) {
    const box = make("div", { class: "past" });
    for (const [step, task, action, result, unmet, members] of attempts) {
      const isDone = result === "done" || result === "delivered";
      box.append(make("button", { text: `step ${step}`, onclick: () => this.jump(step) }),
        make("span", { text: `${action} ${task}, agents ${members.join(", ")}${unmet.length ? ` — lacking ${unmet.join(", ")}` : ""}` }),
        make("span", { class: isDone ? "good" : "bad", text: result }));
    }
    return box;
  }

  // --- messages ---

  found() {
    const { run, view, filter } = this, text = filter.text.toLowerCase(), found = [];
    for (let place = lastAt(run.messages, view.step, (message) => message.step); place >= 0 && found.length <= this.shownMessages; place--) {
      const message = run.messages[place];
      if (filter.kind && message.kind !== filter.kind) continue;
      if (text && !message.text.toLowerCase().includes(text)) continue;
      if (filter.agent !== null && message.sender !== filter.agent && !expanded(message.to).includes(filter.agent)) continue;
      found.push(message);
    }
    return found;
  }

  messagePanel() {
    const { run, view } = this, found = this.found(), list = $("message-list");
    const until = lastAt(run.messages, view.step, (message) => message.step) + 1;
    $("message-count").textContent = `${until} of ${run.messages.length} sent by step ${view.step}, newest first`;
    const shown = found.slice(0, this.shownMessages).map((message) => this.messageCard(message));
    if (found.length > this.shownMessages) {
      shown.push(make("button", { text: "older", onclick: () => { this.shownMessages += SHOWN_AT_ONCE; this.messagePanel(); } }));
    }
    list.replaceChildren(...shown);
  }

  messageCard(message) {
    const { view } = this, hit = expanded(message.hit);
    return make("button", { class: `message${message.step === view.step ? " fresh" : ""}`, style: { borderLeftColor: this.map.identity(message.sender) },
      onclick: () => { this.view.chosen = message.sender; this.jump(message.step); } },
      make("span", { class: "head" }, make("b", { text: `${message.sender} → ${message.to.replaceAll(",", ", ") || "nobody"}` }),
        make("span", { class: "kind", text: message.kind }), make("span", { text: `step ${message.step}` }),
        hit.length ? make("span", { class: "hit", text: `interrupted ${message.hit}` }) : null,
        message.lost ? make("span", { class: "bad", text: `lost for ${message.lost}` }) : null),
      message.text ? make("span", { class: "text", text: message.text }) : null);
  }

  // --- repair ---

  repairPanel() {
    const { run, view } = this, panel = $("tab-repair"), top = panel.scrollTop;
    if (!run.channels.length) { panel.replaceChildren(make("p", { class: "dim", text: "No repair channel was opened in this run." })); return; }
    const known = run.channels.filter((channel) => channel.step <= view.step).reverse();
    const later = run.channels.length - known.length;
    const cards = known.slice(0, 40).map((channel, place) => this.channelCard(channel, place === 0));
    if (!known.length) cards.push(make("p", { class: "dim", text: "No channel yet." }));
    if (later) cards.push(make("button", { text: `${later} later; next at step ${run.channels[known.length].step}`, onclick: () => this.jump(run.channels[known.length].step) }));
    panel.replaceChildren(...cards);
    panel.scrollTop = top;
  }

  channelCard(channel, isWhole) {
    const isNow = this.run.channelsAt(this.view.step).includes(channel);
    const head = make("div", { class: "title" }, make("button", { text: `${channel.label} · step ${channel.step}`, onclick: () => this.jump(channel.step) }),
      make("span", { class: "task", text: channel.target || "let go" }), make("span", { class: "grow kind", text: channel.outcome }));
    const aim = channel.target && channel.target !== channel.task ? `${channel.task} would fail; instead ${channel.target}` : channel.task;
    const facts = make("p", { class: "dim", text: `${aim} · ${channel.strategy} · members ${channel.members.join(", ")}${channel.verified ? " · verified" : ""}` });
    const card = make("div", { class: `card${isNow ? " current" : ""}` }, head, facts);
    if (isWhole || isNow) card.append(...this.channelDetails(channel));
    return card;
  }

  channelDetails(channel) {
    const { run } = this, parts = [], { forecast, closed, scored } = channel;
    if (forecast) parts.push(make("h3", { text: `forecast of ${channel.task}` }), ...this.forecast(forecast), this.evidence(forecast));
    const said = channel.statements.map((id) => run.messageById.get(id)).filter(Boolean);
    if (said.length) parts.push(make("h3", { text: "statements" }), ...said.map((message) => this.messageCard(message)));
    parts.push(make("h3", { text: "plans before and after" }), this.exchange(channel));
    if (closed) {
      const waves = closed.waves.map((wave, place) => `wave ${place + 1}: ${["a1", "a2", "a3"].map((a) => `${a.toUpperCase()} ${wave[a] ? "✓" : "✗"}`).join(" ")}${wave.failing.length ? `, still failing ${wave.failing.join(", ")}` : ""}`);
      parts.push(make("h3", { text: "verdict" }), make("p", { text: `${channel.outcome}; worth ${plainNumber(closed.v_before / 1000)} before, ${plainNumber(closed.v_after / 1000)} after` }),
        ...waves.map((text) => make("p", { class: "dim", text })), make("p", { class: "dim", text: `cost: ${closed.calls} calls, ${closed.tokens} tokens, ${closed.sends} messages, ${(closed.clock_ms / 1000).toFixed(1)} s` }));
    }
    if (scored) {
      const kept = run.colors.constraints.filter((_, place) => scored.held[place]).join(", ") || "none";
      parts.push(make("h3", { text: "what then happened" }), make("p", { text: `${scored.label.replaceAll("_", " ")}: ${scored.succeeded ? "it succeeded" : "it did not succeed"}, ${scored.attempts} attempt${scored.attempts === 1 ? "" : "s"}, first at step ${scored.first ?? "–"}; held: ${kept}` }));
    }
    return parts;
  }

  forecast(forecast) {
    const bars = forecast.held.map((held, place) => {
      const share = forecast.support ? held / forecast.support : 0;
      const color = share >= 1 ? "var(--good)" : share > 0 ? "var(--gold)" : "var(--bad)";
      return make("div", { class: "bar" }, make("span", { class: "dim", text: this.run.colors.constraints[place] }),
        make("i", {}, make("b", { style: { width: `${share * 100}%`, background: color } })), make("span", { class: "dim", text: `${held} of ${forecast.support}` }));
    });
    return [...bars, make("p", { class: "dim", text: `needs ${forecast.need}; would succeed in ${forecast.succeeded} of ${forecast.support}${forecast.cause ? `; cause: ${forecast.cause}` : ""}` })];
  }

  evidence(forecast) {
    if (!forecast.evidence.length) return null;
    const table = make("table", {}, make("tr", {}, ...["agent", "in place", "acting", "able", "at", "arrives"].map((text) => make("th", { text }))));
    const tick = (flag) => (flag ? "✓" : "✗");
    for (const { agent, in_place: place, acting, able, cell, arrival } of forecast.evidence) {
      table.append(make("tr", {}, ...[agent, tick(place), tick(acting), tick(able), cell ? `(${cell})` : "–", arrival ?? "–"].map((text) => make("td", { text }))));
    }
    return table;
  }

  exchange(channel) {
    const table = make("table", {}, make("tr", {}, ...["agent", "before", "after"].map((text) => make("th", { text }))));
    const told = (id) => { const plan = this.run.planById.get(id); return plan ? `${plan.task}: ${plan.actions.map((action) => action[0]).join(", ")}` : "no plan"; };
    for (const agent of channel.members) {
      const [before, after] = [channel.before[agent], channel.after[agent]];
      table.append(make("tr", {}, make("td", { text: agent }), make("td", { text: told(before) }), make("td", { text: after && after === before ? "kept" : told(after) })));
    }
    return table;
  }

  summary() {
    const { run } = this, table = (entries) => {
      const body = make("table");
      for (const [name, value] of entries) body.append(make("tr", {}, make("th", { text: name }), make("td", { class: "number", text: plainNumber(value) })));
      return body;
    };
    const json = (value) => make("pre", { class: "mono", text: JSON.stringify(value, null, 1) });
    const parts = [make("h2", { text: run.summary.run_key || run.name })];
    const metrics = Object.entries(run.metrics);
    parts.push(make("h3", { text: "metrics" }), metrics.length ? table(metrics) : make("p", { class: "dim", text: "no summary: this run is not finished" }));
    if (Object.keys(run.summary).length) parts.push(make("h3", { text: "summary" }), json(run.summary));
    parts.push(make("h3", { text: "config" }), json(run.config));
    if (run.timing) parts.push(make("h3", { text: "time and versions" }), json(run.timing));
    $("tab-summary").replaceChildren(...parts);
  }

  // --- what the watcher does ---

  wire() {
    const { view, map } = this;
    $("play").onclick = () => this.play();
    $("first").onclick = () => this.jump(0);
    $("last").onclick = () => this.jump(this.run.steps);
    $("back").onclick = () => this.jump(view.step - 1);
    $("on").onclick = () => this.jump(view.step + 1);
    $("next-mark").onclick = () => this.nextMark();
    $("scrubber").oninput = (event) => this.jump(Number(event.target.value));
    $("speed").oninput = (event) => this.setSpeed(Number(event.target.value));
    $("axis").onchange = () => this.redraw();
    $("fit").onclick = () => { map.fit(); $("follow").checked = view.follow = false; this.redraw(); };
    for (const [id, name] of [["show-plans", "plans"], ["show-talk", "talk"], ["show-repair", "repair"], ["show-grid", "grid"], ["follow", "follow"]]) {
      $(id).onchange = (event) => { view[name] = event.target.checked; this.redraw(); };
    }
    for (const tab of document.querySelectorAll("[data-tab]")) tab.onclick = () => this.showTab(tab.dataset.tab);
    $("filters").oninput = () => {
      const agent = $("filter-agent").value;
      this.filter = { agent: agent === "" ? null : Number(agent), kind: $("filter-kind").value, text: $("filter-text").value };
      this.shownMessages = SHOWN_AT_ONCE;
      this.messagePanel();
    };
    $("filters").onsubmit = (event) => event.preventDefault();
    $("help-open").onclick = () => $("help").showModal();
    $("theme").onclick = () => this.theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.onchange = () => this.theme(dark.matches ? "dark" : "light");
    this.theme(dark.matches ? "dark" : "light");
    this.setSpeed(this.speed);
    this.wireMap();
    $("timeline").onclick = (event) => {
      const { agent, step } = this.laneAt(event);
      if (agent < this.run.agents) view.chosen = agent;
      this.jump(step);
    };
    $("timeline").onpointermove = (event) => this.laneTip(event);
    $("timeline").onpointerleave = () => { $("tip").hidden = true; };
    $("lanes").onscroll = () => this.lanes();
    document.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => { map.camera = null; this.redraw(); }).observe($("stage"));
  }

  theme(name) {
    document.documentElement.dataset.theme = name;
    if (document.documentElement.dataset.state === "ready") this.redraw();
  }

  wireMap() {
    const { map, view } = this, canvas = $("map");
    let held = null;
    canvas.onpointerdown = (event) => { held = { x: event.clientX, y: event.clientY, moved: false }; canvas.setPointerCapture(event.pointerId); };
    canvas.onpointerup = (event) => {
      if (held && !held.moved) {
        const agent = map.agentAt(...map.cellAt(event.clientX, event.clientY));
        if (agent >= 0) this.choose(agent);
      }
      held = null;
    };
    canvas.onpointermove = (event) => {
      if (!held) { this.mapTip(event); return; }
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.moved && Math.hypot(dx, dy) < 4) return;
      held = { x: event.clientX, y: event.clientY, moved: true };
      map.camera.x -= dx / map.camera.scale;
      map.camera.y -= dy / map.camera.scale;
      $("follow").checked = view.follow = false;
      map.draw(view.step);
    };
    canvas.onpointerleave = () => { $("tip").hidden = true; };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      map.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX, event.clientY);
      map.draw(view.step);
    }, { passive: false });
  }

  mapTip(event) {
    const { map, run, view } = this, [row, column] = map.cellAt(event.clientX, event.clientY), lines = [];
    if (row < 0 || column < 0 || row >= map.rows || column >= map.columns) { $("tip").hidden = true; return; }
    const agent = map.agentAt(row, column), block = map.blockAt(row, column);
    if (agent >= 0) {
      const plan = run.plan(agent, view.step), action = plan && run.action(plan, view.step);
      lines.push(`agent_${agent}, ${STAGES[run.stage(agent, view.step)] || ""}`, plan ? `plan ${plan.id}: ${plan.task}` : "no plan");
      if (action) lines.push(`now ${action[0]}`);
    }
    if (block >= 0) {
      const name = `block_${block}`, goers = [];
      for (let other = 0; other < run.agents; other++) { const plan = run.plan(other, view.step); if (plan && plan.task.startsWith(`${name}_`)) goers.push(other); }
      lines.push(`${name}: needs ${run.now.block_weight[block]} agents`, goers.length ? `planned by ${goers.slice(0, 12).join(", ")}${goers.length > 12 ? "…" : ""}` : "nobody plans it");
    }
    if (!map.isBoard) lines.push(run.legend.material[run.now.material[row * map.columns + column]]);
    this.tip(event, [...lines, `(${row},${column})`].join("\n"));
  }

  laneTip(event) {
    const { run } = this, { agent, step } = this.laneAt(event);
    if (agent < 0 || agent >= run.agents || step < 0) { $("tip").hidden = true; return; }
    const plan = run.plan(agent, step);
    this.tip(event, `agent_${agent}, step ${step}\n${STAGES[run.stage(agent, step)] || "–"}\n${plan ? `plan ${plan.id}: ${plan.task}` : "no plan"}`);
  }

  tip(event, text) {
    const tip = $("tip"), stage = $("stage").getBoundingClientRect();
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.min(event.clientX - stage.left + 14, stage.width - tip.offsetWidth - 8);
    const top = Math.min(event.clientY - stage.top + 14, stage.height - tip.offsetHeight - 8);
    Object.assign(tip.style, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
  }

  save() {
    const link = make("a", { download: `${this.run.name}-step-${this.view.step}.png`, href: $("map").toDataURL("image/png") });
    link.click();
  }

  toggle(id, name) { $(id).checked = this.view[name] = !this.view[name]; this.redraw(); }

  key(event) {
    const isTyping = event.target.matches("input:not([type=range]):not([type=checkbox]), select");
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open || (isTyping && event.key !== "Escape")) return;
    const far = event.shiftKey ? 10 : 1, step = this.view.step, onMap = document.activeElement === $("map");
    const actions = {
      " ": () => this.play(), ArrowLeft: () => this.jump(step - far), ArrowRight: () => this.jump(step + far), Home: () => this.jump(0), End: () => this.jump(this.run.steps),
      "+": () => this.setSpeed(this.speed + 1), "=": () => this.setSpeed(this.speed + 1), "-": () => this.setSpeed(this.speed - 1),
      m: () => this.showTab("messages"), p: () => this.showTab("agent"), r: () => this.showTab("repair"), n: () => this.nextMark(),
      f: () => this.toggle("follow", "follow"), g: () => this.toggle("show-grid", "grid"), s: () => this.save(), h: () => $("help").showModal(), "?": () => $("help").showModal(),
      0: () => $("fit").click(), Escape: () => document.activeElement.blur(),
    };
    if (onMap) actions.Tab = () => this.choose(this.view.chosen + (event.shiftKey ? -1 : 1));
    if (event.target.matches("button") && event.key === " ") return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

async function main() {
  const root = document.documentElement;
  if (typeof DecompressionStream === "undefined") {
    root.dataset.state = "failed";
    $("notice").textContent = "This browser cannot unpack the page: it lacks DecompressionStream. A newer one will show it.";
    $("notice").hidden = false;
    return;
  }
  const run = new Run(await unpack($("data").textContent.trim()));
  $("data").remove();
  const page = new Page(run);
  await page.start();
  [root.dataset.steps, root.dataset.agents, root.dataset.state] = [run.steps, run.agents, "ready"];
  window.cooplab = { run, page };
}

main();
