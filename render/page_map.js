// The map: one canvas that pans and zooms, for boards with blocks and for survival maps.

const FACES = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] };
const WAYS = ["up", "down", "left", "right"];
const CROWD = 20;
const NIGHT = "10,16,48";
const TILE_FROM = 7;

function readable(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return 299 * red + 587 * green + 114 * blue > 135000 ? "#15171c" : "#ffffff";
}

function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

class WorldMap {
  constructor(run, canvas, view) {
    this.run = run;
    this.view = view;
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.isBoard = "block_cell" in run.now;
    [this.rows, this.columns] = this.isBoard ? run.layers.board.data : run.layers.material.shape;
    this.camera = null;
    this.before = null;
    this.image = null;
  }

  async load() {
    if (!this.run.atlas) return;
    this.image = new Image();
    this.image.src = this.run.atlas.uri;
    await this.image.decode();
    const names = (layer) => this.run.legend[layer];
    this.materialAt = [];
    for (const [number, name] of Object.entries(names("material"))) this.materialAt[number] = this.run.atlas.places[`material:${name}`];
    this.objectName = [];
    for (const [number, name] of Object.entries(names("object"))) this.objectName[number] = name;
    this.average = this.averages();
  }

  // The mean colour of every picture of the atlas, for cells too small for pictures.
  averages() {
    const size = this.run.atlas.size, count = this.image.width / size;
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [count, 1];
    const pen = sheet.getContext("2d");
    pen.imageSmoothingQuality = "high";
    for (let place = 0; place < count; place++) pen.drawImage(this.image, place * size, 0, size, size, place, 0, 1, 1);
    return new Uint32Array(pen.getImageData(0, 0, count, 1).data.buffer);
  }

  // --- where things are ---

  fit() {
    const { width, height } = this.box();
    const scale = Math.max(1, Math.min((width - 20) / this.columns, (height - 64) / this.rows));
    this.camera = { scale, y: this.rows / 2 - 22 / scale, x: this.columns / 2 };
  }

  box() { return this.canvas.getBoundingClientRect(); }

  pixel(row, column) {
    const { width, height } = this.size;
    const { scale, y, x } = this.camera;
    return [(column + 0.5 - x) * scale + width / 2, (row + 0.5 - y) * scale + height / 2];
  }

  cellAt(pageX, pageY) {
    const box = this.box(), { scale, y, x } = this.camera;
    return [Math.floor((pageY - box.top - box.height / 2) / scale + y), Math.floor((pageX - box.left - box.width / 2) / scale + x)];
  }

  zoom(factor, pageX, pageY) {
    const box = this.box(), { scale, y, x } = this.camera;
    const [dx, dy] = [pageX - box.left - box.width / 2, pageY - box.top - box.height / 2];
    const next = Math.max(1, Math.min(96, scale * factor));
    this.camera = { scale: next, y: y + dy / scale - dy / next, x: x + dx / scale - dx / next };
  }

  agentAt(row, column) {
    const { run } = this;
    for (let agent = 0; agent < run.agents; agent++) {
      const [r, c] = run.cell(agent);
      if (r === row && c === column) return agent;
    }
    return -1;
  }

  blockAt(row, column) {
    const { block_cell: cells, block_weight: weights } = this.run.now;
    for (let block = 0; this.isBoard && block < weights.length; block++) {
      const [r, c] = [cells[2 * block], cells[2 * block + 1]];
      if (r >= 0 && row >= r && row < r + weights[block] && column >= c && column < c + weights[block]) return block;
    }
    return -1;
  }

  // The rectangle, slots and push direction of a task or of whatever an id names; null if unknown.
  target(name) {
    let found = /^agent_(\d+)$/.exec(name);
    if (found && Number(found[1]) < this.run.agents) {
      const [row, column] = this.run.cell(Number(found[1]));
      return row < 0 ? null : { row, column, side: 1, slots: [] };
    }
    if (this.isBoard) {
      found = /^block_(\d+)(?:_(up|down|left|right))?$/.exec(name);
      const block = found ? Number(found[1]) : -1;
      const { block_cell: cells, block_weight: weights } = this.run.now;
      if (block < 0 || block >= weights.length || cells[2 * block] < 0) return null;
      const [row, column, side] = [cells[2 * block], cells[2 * block + 1], weights[block]];
      if (!found[2]) return { row, column, side, slots: [] };
      const [dy, dx] = FACES[found[2]], out = dy + dx > 0 ? side : -1, slots = [];
      for (let k = 0; k < side; k++) slots.push(dy ? [row + out, column + k] : [row + k, column + out]);
      return { row, column, side, slots, push: [-dy, -dx] };
    }
    found = /@(\d+),(\d+)$/.exec(name);
    if (!found) return null;
    const [row, column] = [Number(found[1]), Number(found[2])];
    return row < this.rows && column < this.columns
      ? { row, column, side: 1, slots: Object.values(FACES).map(([dy, dx]) => [row + dy, column + dx]) } : null;
  }

  placeOf(args) {
    if ("block" in args) {
      const name = typeof args.block === "string" ? args.block : `block_${args.block}`;
      return args.face ? `${name}_${args.face}` : name;
    }
    for (const key of ["target", "recipient", "cell"]) {
      const value = args[key];
      if (Array.isArray(value)) return `cell@${value[0]},${value[1]}`;
      if (typeof value === "number") return `agent_${value}`;
      if (value) return value;
    }
    return "";
  }

  // --- drawing ---

  // share: how far (0 to 1) agents have come from where they stood in `before`.
  draw(step, share = 1) {
    const { canvas, pen, view } = this;
    const ratio = window.devicePixelRatio || 1, box = this.box();
    this.size = { width: box.width, height: box.height };
    if (canvas.width !== Math.round(box.width * ratio) || canvas.height !== Math.round(box.height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    }
    if (!this.camera) this.fit();
    this.share = share;
    if (view.follow) {
      const [row, column] = this.where(view.chosen);
      if (row >= 0) [this.camera.y, this.camera.x] = [row + 0.5, column + 0.5];
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = css("--back");
    pen.fillRect(0, 0, box.width, box.height);
    if (this.isBoard) this.drawBoard(); else this.drawGround();
    this.drawMinds(step);
  }

  where(agent) {
    const now = this.run.cell(agent);
    if (!this.before || this.share >= 1 || now[0] < 0) return now;
    const was = [this.before[2 * agent], this.before[2 * agent + 1]];
    if (was[0] < 0 || Math.abs(was[0] - now[0]) + Math.abs(was[1] - now[1]) > 2) return now;
    return [was[0] + (now[0] - was[0]) * this.share, was[1] + (now[1] - was[1]) * this.share];
  }

  drawBoard() {
    const { pen, run, camera: { scale } } = this;
    const [left, top] = this.pixel(-0.5, -0.5);
    const [width, height] = [this.columns * scale, this.rows * scale];
    pen.fillStyle = css("--board");
    pen.fillRect(left, top, width, height);
    const goal = run.layers.board.data[2];
    pen.fillStyle = css("--goal");
    pen.fillRect(left + goal * scale, top, scale, height);
    if (scale >= 9) this.drawGrid(left, top, width, height);
    if (scale >= 14) {
      pen.strokeStyle = css("--goal-mark");
      pen.lineWidth = Math.max(1.5, scale / 14);
      for (let row = 0; row < this.rows; row++) {
        const [x, y] = this.pixel(row, goal), arm = scale * 0.2;
        this.path([[x - arm * 0.5, y - arm], [x + arm * 0.5, y], [x - arm * 0.5, y + arm]]);
      }
    }
    const { block_cell: cells, block_weight: weights } = run.now;
    for (let block = 0; block < weights.length; block++) if (cells[2 * block] >= 0) this.drawBlock(block, cells[2 * block], cells[2 * block + 1], weights[block]);
  }

  drawGrid(left, top, width, height) {
    const { pen, camera: { scale } } = this;
    pen.strokeStyle = css("--grid");
    pen.lineWidth = 1;
    pen.beginPath();
    for (let row = 1; row < this.rows; row++) { pen.moveTo(left, top + row * scale); pen.lineTo(left + width, top + row * scale); }
    for (let column = 1; column < this.columns; column++) { pen.moveTo(left + column * scale, top); pen.lineTo(left + column * scale, top + height); }
    pen.stroke();
  }

  drawBlock(block, row, column, weight) {
    const { pen, run, camera: { scale }, view } = this;
    const [x, y] = this.pixel(row - 0.5, column - 0.5), side = weight * scale;
    const color = run.colors.weights[Math.min(weight, run.colors.weights.length) - 1];
    const inset = scale > 6 ? Math.min(2, scale / 20) : 0;
    pen.fillStyle = color;
    pen.beginPath();
    pen.roundRect(x + inset, y + inset, side - 2 * inset, side - 2 * inset, Math.min(6, scale / 7));
    pen.fill();
    if (side > 7) { pen.strokeStyle = css("--rim"); pen.lineWidth = 1; pen.stroke(); }
    if (!view.grid || side < 15) return;
    pen.fillStyle = readable(color);
    const large = Math.min(side * 0.34, 34), [cx, cy] = [x + side / 2, y + side / 2];
    const both = side >= 30;
    this.text(`b${block}`, cx, both ? cy - large * 0.28 : cy, Math.max(8, large), 700);
    if (both) this.text(`needs ${weight}`.slice(side < 64 ? 6 : 0), cx, cy + large * 0.62, Math.max(8, Math.min(large * 0.62, side * 0.17)), 500);
  }

  drawGround() {
    const { pen, run, camera: { scale } } = this;
    const { material, object, object_facing: facing, light } = run.now;
    const [left, top] = this.pixel(-0.5, -0.5);
    const first = [Math.max(0, Math.floor(-top / scale)), Math.max(0, Math.floor(-left / scale))];
    const last = [Math.min(this.rows, Math.ceil((this.size.height - top) / scale)), Math.min(this.columns, Math.ceil((this.size.width - left) / scale))];
    pen.imageSmoothingEnabled = scale < 12;
    if (scale < TILE_FROM) this.drawFar(left, top);
    else {
      const size = run.atlas.size;
      for (let row = first[0]; row < last[0]; row++) {
        for (let column = first[1]; column < last[1]; column++) {
          const place = row * this.columns + column;
          const [x0, y0] = [Math.floor(left + column * scale), Math.floor(top + row * scale)];
          const [w, h] = [Math.floor(left + (column + 1) * scale) - x0, Math.floor(top + (row + 1) * scale) - y0];
          pen.drawImage(this.image, this.materialAt[material[place]] * size, 0, size, size, x0, y0, w, h);
          const thing = this.thing(object[place], facing[place]);
          if (thing !== undefined) pen.drawImage(this.image, thing * size, 0, size, size, x0, y0, w, h);
        }
      }
    }
    const dark = (1 - light[0] / 100) * 0.62;
    if (dark > 0.02) {
      pen.fillStyle = `rgba(${NIGHT},${dark})`;
      pen.fillRect(left, top, this.columns * scale, this.rows * scale);
    }
  }

  thing(code, facing) {
    const name = this.objectName[code], places = this.run.atlas.places;
    if (!name || name === "none" || name === "agent") return undefined;
    if (name === "arrow") return places[`thing:arrow_${WAYS[facing]}`];
    return places[name === "plant" && facing === 1 ? "thing:ripe_plant" : `thing:${name}`];
  }

  drawFar(left, top) {
    const { run, pen, camera: { scale } } = this;
    const { material, object, object_facing: facing } = run.now;
    if (!this.far) {
      this.far = document.createElement("canvas");
      [this.far.width, this.far.height] = [this.columns, this.rows];
    }
    const far = this.far.getContext("2d");
    const picture = far.createImageData(this.columns, this.rows), colors = new Uint32Array(picture.data.buffer);
    for (let place = 0; place < colors.length; place++) {
      const thing = object[place] ? this.thing(object[place], facing[place]) : undefined;
      colors[place] = this.average[thing === undefined ? this.materialAt[material[place]] : thing] | 0xff000000;
    }
    far.putImageData(picture, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.far, left, top, this.columns * scale, this.rows * scale);
  }

  // --- what agents have in mind ---

  drawMinds(step) {
    const { run, view } = this, isCrowd = run.agents > CROWD;
    const near = (agent) => !isCrowd || agent === view.chosen;
    const channels = view.repair ? run.channelsAt(step) : [];
    for (const channel of channels) this.drawChannel(channel);
    if (view.plans) {
      for (let agent = 0; agent < run.agents; agent++) if (near(agent)) this.drawPlan(agent, step);
    }
    const said = view.talk ? this.heard(step, isCrowd) : [];
    for (const [sender, agent, isHit] of said) this.drawArc(sender, agent, isHit);
    for (let agent = 0; agent < run.agents; agent++) if (agent !== view.chosen) this.drawAgent(agent, step);
    this.drawAgent(view.chosen, step);
    if (view.plans && isCrowd) this.drawCrowds(step);
    for (const sender of new Set(said.map(([sender]) => sender))) this.drawBubble(sender);
    for (const channel of channels) this.drawStar(channel);
  }

  // Who told whom in a step, as [sender, recipient, whether it broke the recipient off].
  heard(step, isCrowd) {
    const chosen = isCrowd ? this.view.chosen : -1, key = `${step}/${chosen}`;
    if (this.heardKey === key) return this.heardNow;
    const arcs = new Map();
    for (const { sender, to, hit } of this.run.said(step)) {
      const broken = expanded(hit);
      for (const agent of expanded(to)) {
        if (isCrowd && sender !== chosen && agent !== chosen) continue;
        const name = `${sender}>${agent}`;
        arcs.set(name, [sender, agent, broken.includes(agent) || (arcs.has(name) && arcs.get(name)[2])]);
      }
    }
    [this.heardKey, this.heardNow] = [key, [...arcs.values()]];
    return this.heardNow;
  }

  identity(agent) { return this.run.colors.identity[agent % this.run.colors.identity.length]; }

  inView(x, y, room = 60) { return x > -room && y > -room && x < this.size.width + room && y < this.size.height + room; }

  // Pixels of an agent: never so few that one cannot see who it is.
  bodySize() { return Math.max(this.camera.scale, this.run.agents > CROWD ? 7 : 16); }

  drawAgent(agent, step) {
    const { pen, run, view } = this;
    const [row, column] = this.where(agent);
    if (row < 0) return;
    const [x, y] = this.pixel(row, column), stage = run.stage(agent, step);
    if (!this.inView(x, y)) return;
    const color = run.colors.stages[stage] || "#15171c", own = this.identity(agent);
    const size = this.bodySize();
    if (agent === view.chosen) {
      this.ring(x, y, size * 0.66 + 3, 4.5, "rgba(0,0,0,.65)");
      this.ring(x, y, size * 0.66 + 3, 2.4, "#ffffff");
    }
    if (size < 10) {
      pen.fillStyle = "#15171c";
      pen.fillRect(x - size / 2 - 0.5, y - size / 2 - 0.5, size + 1, size + 1);
      pen.fillStyle = color;
      pen.fillRect(x - size / 2 + 0.8, y - size / 2 + 0.8, size - 1.6, size - 1.6);
      if (run.agents <= CROWD) { pen.fillStyle = own; pen.fillRect(x - 1.5, y - 1.5, 3, 3); }
      return;
    }
    if (this.isBoard) {
      this.disc(x, y, size * 0.45, "#15171c");
      this.disc(x, y, size * 0.45 - 1, color);
      this.disc(x, y, size * 0.32, "#15171c");
      this.disc(x, y, size * 0.32 - 0.8, own);
      if (view.grid && size >= 17) { pen.fillStyle = readable(own); this.text(String(agent), x, y + size * 0.02, Math.min(size * 0.36, 22), 700); }
    } else this.drawPerson(agent, x, y, size, color, own);
    if (size >= 30 && stage !== ".") {
      this.disc(x + size * 0.36, y + size * 0.34, size * 0.15, color);
      pen.fillStyle = readable(color);
      this.text(stage, x + size * 0.36, y + size * 0.35, size * 0.2, 700);
    }
  }

  drawPerson(agent, x, y, size, color, own) {
    const { pen, run, view } = this;
    const pose = run.now.is_asleep[agent] ? "asleep" : WAYS[run.now.agent_facing[agent]];
    const place = run.atlas.places[`agent:${agent % run.colors.identity.length}:${pose}`], tile = run.atlas.size;
    pen.globalAlpha = 0.35;
    pen.fillStyle = color;
    pen.fillRect(x - size / 2, y - size / 2, size, size);
    pen.globalAlpha = 1;
    pen.drawImage(this.image, place * tile, 0, tile, tile, x - size / 2, y - size / 2, size, size);
    pen.strokeStyle = color;
    pen.lineWidth = Math.max(2, size / 11);
    pen.strokeRect(x - size / 2, y - size / 2, size, size);
    if (!view.grid) return;
    const high = Math.max(11, Math.min(16, size * 0.42)), wide = high * (0.5 + 0.55 * String(agent).length);
    pen.fillStyle = own;
    pen.beginPath();
    pen.roundRect(x - wide / 2, y - size / 2 - high, wide, high, 3);
    pen.fill();
    pen.fillStyle = readable(own);
    this.text(String(agent), x, y - size / 2 - high / 2 + 0.5, high * 0.78, 700);
  }

  drawPlan(agent, step) {
    const { run } = this, plan = run.plan(agent, step), [row, column] = this.where(agent);
    if (!plan || row < 0) return;
    const action = run.action(plan, step), place = action ? this.placeOf(action[5]) : "";
    const task = this.target(plan.task === "none" ? place : plan.task), way = this.target(place) || task;
    const color = this.identity(agent);
    if (way) this.drawWay(row, column, way, color);
    if (task) { this.drawCorners(task, color, agent); if (task.push) this.drawPush(task, color); }
  }

  drawWay(row, column, way, color) {
    const middle = [way.row + (way.side - 1) / 2, way.column + (way.side - 1) / 2];
    const slots = way.slots.length ? way.slots : [middle];
    if (slots.some(([r, c]) => r === row && c === column)) return;
    const far = ([r, c]) => Math.abs(r - row) + Math.abs(c - column);
    const slot = slots.reduce((best, other) => (far(other) < far(best) ? other : best));
    const [start, end] = [this.pixel(row, column), this.pixel(...slot)];
    this.stroke([start, end], "rgba(0,0,0,.4)", 4);
    this.stroke([start, end], color, 2.4, [8, 5]);
    this.disc(...end, 4.5, "rgba(0,0,0,.5)");
    this.disc(...end, 3.5, color);
  }

  drawCorners(task, color, agent) {
    const { scale } = this.camera;
    const out = 2 + (agent % 3) * 3, [left, top] = this.pixel(task.row - 0.5, task.column - 0.5).map((v) => v - out);
    const side = task.side * scale + 2 * out, arm = Math.max(4, side * 0.24);
    for (const [x, y, dx, dy] of [[left, top, 1, 1], [left + side, top, -1, 1], [left, top + side, 1, -1], [left + side, top + side, -1, -1]]) {
      this.stroke([[x + dx * arm, y], [x, y], [x, y + dy * arm]], color, 2.6);
    }
  }

  drawPush(task, color) {
    const { pen, camera: { scale } } = this, [dy, dx] = task.push, reach = scale * 0.2;
    const middle = this.pixel(task.row + (task.side - 1) / 2, task.column + (task.side - 1) / 2);
    const [x, y] = [middle[0] - dx * (task.side * scale / 2 - reach), middle[1] - dy * (task.side * scale / 2 - reach)];
    pen.fillStyle = color;
    pen.beginPath();
    pen.moveTo(x + dx * reach, y + dy * reach);
    pen.lineTo(x - dx * reach + dy * reach, y - dy * reach + dx * reach);
    pen.lineTo(x - dx * reach - dy * reach, y - dy * reach - dx * reach);
    pen.fill();
  }

  drawCrowds(step) {
    const { run, pen } = this, counts = new Map();
    for (let agent = 0; agent < run.agents; agent++) {
      const plan = run.plan(agent, step);
      if (plan) counts.set(plan.task, (counts.get(plan.task) || 0) + 1);
    }
    for (const [task, count] of counts) {
      const target = this.target(task);
      if (!target || count < (this.camera.scale < 5 ? 3 : 2)) continue;
      const [x, y] = this.pixel(target.row + (target.side - 1) / 2, target.column - 0.5), label = `${count}→`;
      if (!this.inView(x, y)) continue;
      pen.fillStyle = "rgba(21,23,28,.85)";
      pen.beginPath();
      pen.roundRect(x - 12 - 7 * String(count).length, y - 8, 11 + 7 * String(count).length, 16, 4);
      pen.fill();
      pen.fillStyle = "#ffffff";
      this.text(label, x - 6.5 - 3.5 * String(count).length, y, 11, 600);
    }
  }

  drawArc(sender, agent, isHit) {
    const [from, to] = [this.where(sender), this.where(agent)];
    if (from[0] < 0 || to[0] < 0) return;
    const [start, end] = [this.pixel(...from), this.pixel(...to)], size = this.bodySize();
    const [dx, dy] = [end[0] - start[0], end[1] - start[1]], length = Math.hypot(dx, dy), rim = size * 0.5 + 2;
    if (length < 2 * rim) return;
    const bend = Math.min(length * 0.17, 80), [nx, ny] = [dy / length, -dx / length], points = [];
    for (let k = 0; k <= 24; k++) {
      const t = rim / length + (1 - 2 * rim / length) * k / 24, side = 4 * t * (1 - t) * bend;
      points.push([start[0] + dx * t + nx * side, start[1] + dy * t + ny * side]);
    }
    const color = this.identity(sender);
    this.stroke(points, "rgba(0,0,0,.55)", 4.4);
    this.stroke(points, color, 2.4, [5, 3]);
    const [back, tip] = [points[22], points[24]], far = Math.hypot(tip[0] - back[0], tip[1] - back[1]) || 1;
    const [ux, uy] = [(tip[0] - back[0]) / far, (tip[1] - back[1]) / far], head = isHit ? 11 : 8;
    const { pen } = this;
    pen.beginPath();
    pen.moveTo(tip[0] + ux * 2, tip[1] + uy * 2);
    pen.lineTo(tip[0] - ux * head - uy * head * 0.55, tip[1] - uy * head + ux * head * 0.55);
    pen.lineTo(tip[0] - ux * head + uy * head * 0.55, tip[1] - uy * head - ux * head * 0.55);
    pen.closePath();
    pen.fillStyle = color;
    pen.fill();
    pen.strokeStyle = isHit ? "#ffffff" : "rgba(0,0,0,.6)";
    pen.lineWidth = isHit ? 2 : 1;
    pen.stroke();
  }

  drawBubble(agent) {
    const [row, column] = this.where(agent);
    const size = this.bodySize();
    if (row < 0 || size < 9) return;
    const unit = Math.max(1, Math.min(2.6, size / 18)), [x0, y0] = this.pixel(row, column);
    const [x, y] = [x0 + size * 0.46, y0 - size * 0.6];
    this.disc(x, y, 5.6 * unit, "#15171c");
    this.disc(x, y, 4.6 * unit, "#ffffff");
    for (const dot of [-2, 0, 2]) this.disc(x + dot * unit, y, 0.8 * unit, "#15171c");
  }

  channelMiddle(channel) {
    const target = this.target(channel.target || channel.task);
    if (target) return [target.row + (target.side - 1) / 2, target.column + (target.side - 1) / 2, target.side];
    const cells = channel.members.map((agent) => this.where(agent)).filter(([row]) => row >= 0);
    if (!cells.length) return null;
    return [0, 1].map((axis) => cells.reduce((sum, cell) => sum + cell[axis], 0) / cells.length).concat(1);
  }

  drawChannel(channel) {
    const middle = this.channelMiddle(channel);
    if (!middle) return;
    const end = this.pixel(middle[0], middle[1]), size = this.bodySize();
    for (const agent of channel.members) {
      const [row, column] = this.where(agent);
      if (row < 0) continue;
      const start = this.pixel(row, column);
      this.stroke([start, end], "rgba(0,0,0,.35)", 7);
      this.stroke([start, end], this.run.colors.repair, 4.5);
      this.ring(...start, size * 0.52 + 3, 5.5, "rgba(0,0,0,.45)");
      this.ring(...start, size * 0.52 + 3, 4, this.run.colors.repair);
    }
  }

  drawStar(channel) {
    const middle = this.channelMiddle(channel);
    if (!middle) return;
    const { pen } = this, [x, y] = this.pixel(middle[0] - middle[2] / 2, middle[1]);
    pen.font = "600 12px system-ui, sans-serif";
    const wide = pen.measureText(channel.label).width + 12;
    pen.fillStyle = this.run.colors.repair;
    pen.beginPath();
    pen.roundRect(x, y - 10, wide + 10, 20, 5);
    pen.fill();
    pen.fillStyle = "#15171c";
    this.text(channel.label, x + 12 + wide / 2, y + 0.5, 12, 700);
    star(pen, x, y, 14, "#15171c");
    star(pen, x, y, 12, this.run.colors.repair);
  }

  // --- strokes ---

  text(text, x, y, size, weight) {
    const { pen } = this;
    pen.font = `${weight} ${size}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(text, x, y);
  }

  path(points) {
    const { pen } = this;
    pen.beginPath();
    points.forEach(([x, y], place) => (place ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
  }

  stroke(points, color, width, dash = []) {
    const { pen } = this;
    [pen.strokeStyle, pen.lineWidth, pen.lineJoin, pen.lineCap] = [color, width, "round", dash.length ? "butt" : "round"];
    pen.setLineDash(dash);
    this.path(points);
    pen.setLineDash([]);
  }

  disc(x, y, radius, color) {
    const { pen } = this;
    pen.fillStyle = color;
    pen.beginPath();
    pen.arc(x, y, Math.max(0.1, radius), 0, 7);
    pen.fill();
  }

  ring(x, y, radius, width, color) {
    const { pen } = this;
    [pen.strokeStyle, pen.lineWidth] = [color, width];
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.stroke();
  }
}

function star(pen, x, y, radius, color) {
  pen.fillStyle = color;
  pen.beginPath();
  for (let tip = 0; tip < 10; tip++) {
    const turn = Math.PI * (tip / 5 - 0.5), reach = tip % 2 ? radius * 0.45 : radius;
    pen.lineTo(x + reach * Math.cos(turn), y + reach * Math.sin(turn));
  }
  pen.fill();
}
