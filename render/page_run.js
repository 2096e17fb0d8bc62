"use strict";
// The run: unpacked from the page, its layers at any step, and what was on whose mind.

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function expanded(ranges) {
  const ids = [];
  if (!ranges) return ids;
  for (const part of ranges.split(",")) {
    const [low, high = low] = part.split("-").map(Number);
    for (let id = low; id <= high; id++) ids.push(id);
  }
  return ids;
}

// Last index with key(item) <= value, -1 if there is none; items ascend by key.
function lastAt(items, value, key) {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(items[middle]) <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
}

class Run {
  constructor(data) {
    Object.assign(this, data);
    this.at = 0;
    this.now = {};
    for (const [name, layer] of Object.entries(data.layers)) this.now[name] = layer.data;
    this.undo = data.changes.map(() => null);
    this.plansOf = Array.from({ length: this.agents }, () => []);
    this.planById = new Map();
    for (const plan of this.plans) {
      this.plansOf[plan.agent].push(plan);
      this.planById.set(plan.id, plan);
    }
    this.messageById = new Map();
    this.messages = data.messages.map((row) => this.message(row));
    this.attemptsOf = new Map();
    this.marks = this.findMarks();
  }

  message([id, sender, to, kind, text, step, ms, hit, lost]) {
    const message = { id, sender, to, kind: this.kinds[kind], text: this.texts[text], step, ms, hit, lost };
    this.messageById.set(id, message);
    return message;
  }

  // Layers at a step: a change is taken forward or back, one step after another.
  go(step) {
    while (this.at < step) {
      const undo = {};
      for (const [name, [indices, values]] of Object.entries(this.changes[this.at])) {
        const layer = this.now[name];
        undo[name] = [indices, indices.map((index) => layer[index])];
        indices.forEach((index, place) => { layer[index] = values[place]; });
      }
      this.undo[this.at++] = undo;
    }
    while (this.at > step) {
      for (const [name, [indices, values]] of Object.entries(this.undo[--this.at])) {
        const layer = this.now[name];
        indices.forEach((index, place) => { layer[index] = values[place]; });
      }
    }
    return this.now;
  }

  cell(agent) {
    const cells = this.now.agent_cell;
    return [cells[2 * agent], cells[2 * agent + 1]];
  }

  stage(agent, step) { return this.shown[agent][step]; }

  plan(agent, step) {
    const plans = this.plansOf[agent];
    for (let place = plans.length - 1; place >= 0; place--) {
      const plan = plans[place];
      if (plan.step <= step && (plan.ended === null || plan.ended > step)) return plan;
    }
    return null;
  }

  action(plan, step) { return plan.actions.find((action) => action[4] === null || action[4] > step) || null; }

  status([, status, , started, ended], step) {
    if (ended !== null && ended <= step) return status;
    return started !== null && started <= step ? "running" : "todo";
  }

  score(step) {
    const place = lastAt(this.scores, step, (score) => score[0]);
    return place < 0 ? 0 : this.scores[place][4];
  }

  clock(step) { return this.stepMs[step] / 1000; }

  spanEnd(step) { return step < this.steps ? this.stepMs[step + 1] : this.endMs; }

  said(step) {
    const last = lastAt(this.messages, step, (message) => message.step);
    const first = lastAt(this.messages, step - 1, (message) => message.step);
    return this.messages.slice(first + 1, last + 1);
  }

  channelsAt(step) {
    return this.channels.filter((c) => c.step <= step && step <= (c.ended === null ? c.step : c.ended) + 2);
  }

  findMarks() {
    const marks = [
      ...this.channels.map((c) => ({ step: c.step, kind: "repair", text: `repair ${c.label}: ${c.outcome}` })),
      ...this.failures.map(([step, agent, text]) => ({ step, kind: "failure", agent, text: `agent ${agent}, ${text}` })),
      ...this.scores.map(([step, task, points]) => ({ step, kind: "score", text: `+${points} ${task}` })),
    ];
    return marks.filter((mark) => mark.step <= this.steps).sort((a, b) => a.step - b.step);
  }
}
