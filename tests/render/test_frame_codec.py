"""The file of frames: what is written reads back, and damage is named."""

import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognitive.errors import RecordError
from render.replay import KEY_INTERVAL, FrameEncoder, Frames
from worlds.errors import LayoutError


def walk(seed: int, steps: int) -> list[dict[str, np.ndarray]]:
    """A made-up episode: three layers of different form, a few changes a step."""
    random = np.random.default_rng(seed)
    layers = {
        "ground": random.integers(0, 200, (5, 7)).astype(np.uint8),
        "cell": random.integers(-1, 30000, (3, 2)).astype(np.int16),
        "asleep": random.integers(0, 2, 3).astype(bool),
    }
    frames = [layers]
    for _ in range(steps):
        layers = {name: array.copy() for name, array in layers.items()}
        layers["ground"][random.integers(5), random.integers(7)] = random.integers(200)
        layers["cell"][random.integers(3)] = random.integers(-1, 30000, 2)
        layers["asleep"][random.integers(3)] ^= True
        frames.append(layers)
    return frames


def write(path, frames) -> None:
    encoder = FrameEncoder("demo-v1", {"ground": {"1": "grass"}})
    path.write_bytes(b"".join(encoder.encode(step, f) for step, f in enumerate(frames)))


def same(one, other) -> bool:
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype and np.array_equal(one[name], other[name])
        for name in one
    )


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), steps=st.integers(0, 12), order=st.randoms())
def test_every_step_reads_back_in_any_order(seed, steps, order):
    frames = walk(seed, steps)
    encoder, read = FrameEncoder("demo-v1", {}), Frames()
    for step, layers in enumerate(frames):
        read.take(encoder.encode(step, layers))
    asked = [*range(steps + 1), *range(steps + 1)]
    order.shuffle(asked)
    for step in asked:
        assert same(read.redraw(step), frames[step]), f"step {step} of {steps}, seed {seed}"


def test_full_frames_stand_at_every_hundredth_step(tmp_path):
    frames = walk(1, 2 * KEY_INTERVAL + 3)
    write(tmp_path / "frames.jsonl", frames)
    lines = [json.loads(line) for line in (tmp_path / "frames.jsonl").read_bytes().splitlines()]
    assert [line["step"] for line in lines[1:] if "key" in line] == [100, 200]
    read = Frames.read(tmp_path / "frames.jsonl")
    for step in (203, 0, 100, 99, 150, 200, 7):
        assert same(read.redraw(step), frames[step]), f"step {step}"


def test_the_header_line_has_the_documented_form(tmp_path):
    write(tmp_path / "frames.jsonl", walk(3, 1))
    header, change = map(json.loads, (tmp_path / "frames.jsonl").read_bytes().splitlines())
    assert list(header) == ["v", "world", "legend", "layers"]
    cell = header["layers"]["cell"]
    raw = zlib.decompress(base64.b64decode(cell["data"]))
    assert (cell["dtype"], cell["shape"]) == ("int16", [3, 2])
    assert np.array_equal(np.frombuffer(raw, "<i2").reshape(3, 2), walk(3, 0)[0]["cell"])
    assert list(change) == ["step", "d"]


def test_redrawn_layers_are_the_callers_own(tmp_path):
    frames = walk(4, 3)
    write(tmp_path / "frames.jsonl", frames)
    read = Frames.read(tmp_path / "frames.jsonl")
    read.redraw(2)["ground"][:] = 77
    assert same(read.redraw(2), frames[2])


def test_an_unfinished_last_line_is_left_out_with_a_warning(tmp_path):
    path = tmp_path / "frames.jsonl"
    write(path, walk(5, 4))
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.warns(UserWarning, match="unfinished"):
        assert Frames.read(path).steps == 3


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: [lines[0], lines[1][:20], *lines[2:]], "line 2: no frame"),
        (lambda lines: [lines[0], *lines[2:]], "line 2: frame of step 2 where step 1 is due"),
        (lambda lines: [lines[0].replace(b'"v":1', b'"v":3')], "frames schema 3"),
        (lambda lines: [b'{"v":1}'], "line 1: no frame"),
        (lambda lines: [lines[0], b'{"step":1,"d":{"ground":[[35],[1]]}}'], "index outside"),
        (lambda lines: [lines[0], b'{"step":1,"d":{"ground":[[3],[256]]}}'], "value outside"),
        (lambda lines: [lines[0], b'{"step":1,"d":{"sky":[[3],[25]]}}'], "sky"),
        (lambda lines: [lines[0].replace(b'"data":"e', b'"data":"f')], "layer"),
        (lambda lines: [], "holds no frame"),
    ],
)
def test_damage_is_named_with_file_and_line(tmp_path, change, says):
    path = tmp_path / "frames.jsonl"
    write(path, walk(6, 3))
    lines = change(path.read_bytes().splitlines())
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    with pytest.raises(RecordError, match=says) as caught:
        Frames.read(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_a_record_error(tmp_path):
    with pytest.raises(RecordError, match="cannot be read"):
        Frames.read(tmp_path / "frames.jsonl")


def test_the_encoder_refuses_what_a_reader_could_not_follow():
    encoder = FrameEncoder("demo-v1", {})
    with pytest.raises(LayoutError, match="float64"):
        encoder.encode(0, {"light": np.zeros(2)})
    encoder.encode(0, {"a": np.zeros(2, np.int16)})
    with pytest.raises(RecordError, match="step 2 came where step 1 is due"):
        encoder.encode(2, {"a": np.zeros(2, np.int16)})
    with pytest.raises(LayoutError, match="int16"):
        encoder.encode(1, {"a": np.zeros(3, np.int16)})
