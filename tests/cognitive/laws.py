"""What must hold for the events of every run; each check names what it saw."""

from collections import Counter

FOLLOWING = {
    "lockstep": {"R": "WG", "W": "RXIG", "X": "RIG", "I": "W", "G": ""},
    "realtime": {"R": "WG", "W": "RXIG", "X": "RIG", "I": "WRG", "G": ""},
}


def check_all(events, pace="lockstep"):
    check_stages(events, pace)
    check_plans(events)
    check_messages(events)
    check_decisions(events)
    if pace == "lockstep":
        check_frozen(events)


def check_stages(events, pace):
    """Only legal transitions; each agent's time never falls; durations sum to the end."""
    started, ended = events[0], events[-1]
    stage = dict.fromkeys(range(started["agents"]), "R")
    since = dict.fromkeys(stage, 0)
    spent = {agent: Counter() for agent in stage}
    for line in events:
        if line["e"] != "stage":
            continue
        agent, before, after = line["agent"], line["from"], line["to"]
        assert stage[agent] == before, line
        assert after in FOLLOWING[pace][before], line
        assert line["ms"] >= since[agent], line
        spent[agent][before] += line["ms"] - since[agent]
        stage[agent], since[agent] = after, line["ms"]
    for agent, kept in enumerate(ended["stages"]):
        spent[agent][stage[agent]] += ended["ms"] - since[agent]
        assert {k: v for k, v in kept.items() if v} == {k: v for k, v in spent[agent].items() if v}
        assert sum(kept.values()) == ended["ms"], (agent, kept, ended["ms"])


def check_frozen(events):
    """The world never steps while a living agent is in R or I."""
    stage = {}
    for line in events:
        if line["e"] == "stage":
            stage[line["agent"]] = line["to"]
        elif line["e"] == "step":
            thinking = [a for a in line["living"] if stage.get(a, "R") in "RI"]
            assert not thinking, (line, thinking)


def check_plans(events):
    """Statuses follow each other; at most one live plan an agent; each plan ends once."""
    live, over = {}, set()
    replies = set()
    for line in events:
        if line["e"] == "decision_ended" and line["value"]:
            value = line["value"]
            for plan in (value, value.get("plan") or {}):
                replies.update(str(action) for action in plan.get("actions", ()))
        elif line["e"] == "plan_committed":
            assert line["agent"] not in live, (line, live)
            assert 1 <= len(line["actions"]) <= 8, line
            assert {str(action) for action in line["actions"]} <= replies, line
            live[line["agent"]] = [line["plan"], "pending", len(line["actions"]), 0]
        elif line["e"] == "plan_started":
            entry = live[int(line["plan"].split(".")[0])]
            assert entry[:2] == [line["plan"], "pending"], (line, entry)
            entry[1] = "executing"
        elif line["e"] == "plan_resumed":
            assert live[line["agent"]][0] == line["plan"], line
        elif line["e"] in ("action_started", "action_ended"):
            entry = live[int(line["plan"].split(".")[0])]
            assert (entry[1], entry[3]) == ("executing", line["index"]), (line, entry)
            entry[3] += line["e"] == "action_ended" and line["status"] == "done"
        elif line["e"] == "plan_ended":
            plan, status, of, done = live.pop(line["agent"])
            assert plan == line["plan"] and plan not in over, line
            assert line["status"] == "interrupted" or status == "executing", line
            assert (line["done"], line["of"]) == (done, of), line
            assert (line["status"] == "success") == (done == of), line
            over.add(plan)
    assert not live, live


def check_messages(events):
    """Receipts add up; nobody reads before delivery, twice, or what was sent to others."""
    sent, delivered, delivered_at, read = {}, Counter(), {}, Counter()
    lost = Counter()
    for line in events:
        if line["e"] == "message_sent":
            assert line["message"] == len(sent), line
            sent[line["message"]] = line
            assert line["sender"] not in line["recipients"], line
            assert line["recipients"] == sorted(set(line["recipients"])), line
        elif line["e"] == "message_delivered":
            assert len(line["recipients"]) == len(line["effects"]), line
            for agent in line["recipients"]:
                assert agent in sent[line["message"]]["recipients"], line
                assert (line["message"], agent) not in delivered_at, line
                delivered_at[line["message"], agent] = line["ms"]
                assert line["ms"] >= sent[line["message"]]["ms"], line
            delivered["deliveries"] += len(line["recipients"])
        elif line["e"] == "message_lost":
            for agent in line["recipients"]:
                is_unread = (line["message"], agent) in delivered_at
                lost[line["cause"], is_unread] += 1
        elif line["e"] == "decision_started":
            for message in line["read"]:
                assert delivered_at[message, line["agent"]] <= line["ms"], line
                read[message, line["agent"]] += 1
    assert set(read.values()) <= {1}, read.most_common(1)
    counters = events[-1]["counters"]
    assert counters["sends"] == len(sent)
    assert counters["deliveries"] == delivered["deliveries"]
    assert counters["reads"] == read.total()
    recipients = sum(len(line["recipients"]) for line in sent.values())
    expired = counters["expired"]
    assert recipients == (
        counters["deliveries"] + counters["drops"] + counters["gone"] + expired["undelivered"]
    ), counters
    assert counters["deliveries"] == (
        counters["reads"] + counters["overflows"] + expired["unread"]
    ), counters
    assert lost["dropped", False] == counters["drops"]
    assert lost["overflow", True] == counters["overflows"]
    assert lost["expired", True] == expired["unread"]
    assert lost["expired", False] == expired["undelivered"]


def check_decisions(events):
    """Each decision starts and ends once, in time; an ask shows all that was unread by then."""
    started, unread, ended = {}, {}, set()
    kinds = {}
    for line in events:
        if line["e"] == "message_sent":
            kinds[line["message"]] = line["kind"]
        elif line["e"] == "message_delivered":
            for agent in line["recipients"]:
                unread.setdefault(agent, {})[line["message"]] = line["ms"]
        elif line["e"] == "message_lost":
            for agent in line["recipients"]:
                unread.get(agent, {}).pop(line["message"], None)
        elif line["e"] == "decision_started":
            assert line["decision"] == f"d{len(started)}", line
            started[line["decision"]] = line
            waiting = unread.get(line["agent"], {})
            due = {m for m, ms in waiting.items() if ms <= line["ms"]}
            assert set(line["read"]) == due, (line, waiting)
            for message in line["read"]:
                del waiting[message]
        elif line["e"] == "decision_ended":
            begin = started[line["decision"]]
            assert line["decision"] not in ended, line
            ended.add(line["decision"])
            assert line["ms"] == begin["ms"] + line["charge_ms"], (line, begin)
            assert len(line["tries"]) <= begin["try_limit"], line
            assert (line["value"] is not None) == (line["outcome"] == "answered"), line
            if line["outcome"] != "cut":
                assert line["charge_ms"] == sum(t["charge_ms"] for t in line["tries"]), line
    assert ended == set(started), set(started) - ended


def check_rounds(events):
    """Whoever is in R when a round opens is asked for a plan in it exactly once (lockstep)."""
    stage, open_rounds = {}, {}
    for line in events:
        if line["e"] == "stage":
            stage[line["agent"]] = line["to"]
        elif line["e"] == "dialogue_opened" and line["cause"] == "topology":
            needing = [a for a in line["needing"] if stage.get(a, "R") == "R"]
            open_rounds[line["dialogue"]] = Counter(dict.fromkeys(needing, 0))
        elif line["e"] == "decision_started" and line["kind"] == "plan":
            asked = open_rounds.get(line["dialogue"], {})
            if line["agent"] in asked and stage.get(line["agent"], "R") == "R":
                asked[line["agent"]] += 1
        elif line["e"] == "dialogue_closed" and line["dialogue"] in open_rounds:
            asked = open_rounds.pop(line["dialogue"])
            assert set(asked.values()) <= {1}, (line, asked)
