"""Exported pictures and films: exact sizes, exact numbers of frames, the frames themselves."""

import re
import struct
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

from cognitive.errors import ConfigError, MissingPrerequisite
from render import video
from render.video import export_gif, export_mp4, export_png, png_bytes

imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="needs cooplab[video]")


def test_a_png_holds_exactly_the_picture(run, tmp_path):
    path = export_png(run, tmp_path / "a.png", step=13, scale=9)
    assert np.array_equal(np.array(Image.open(path)), run.picture(13, 9)[..., :3])
    export_png(run, tmp_path / "b.png", step=13, scale=9)
    assert path.read_bytes() == (tmp_path / "b.png").read_bytes()


def test_png_bytes_are_plain_png():
    data = png_bytes(np.arange(6, dtype=np.uint32).reshape(2, 3))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    (length,) = struct.unpack(">I", data[8:12])
    assert struct.unpack(">II", data[16:24]) == (3, 2)
    assert zlib.crc32(data[12 : 16 + length]) == struct.unpack(">I", data[29:33])[0]


@pytest.mark.parametrize(("scale", "panel"), [(9, "map"), (3, "full")])
def test_a_gif_has_every_step_in_its_size(run, tmp_path, scale, panel):
    path = export_gif(run, tmp_path / "a.gif", scale=scale, panel=panel, fps=7, start=2, stop=30)
    film = Image.open(path)
    height, width = run.picture(2, scale, panel).shape[:2]
    assert (film.n_frames, film.size) == (29, (width, height))
    lasted = 0
    for frame in range(film.n_frames):
        film.seek(frame)
        lasted += film.info["duration"]
        shown = np.array(film.convert("RGB")).astype(int)
        meant = run.picture(2 + frame, scale, panel)[..., :3].astype(int)
        off = np.abs(shown - meant).mean()
        assert off < 8, f"frame {frame} is off by {off} of 255 on average"
    assert lasted == pytest.approx(1000 * 29 / 7, abs=10)


def test_a_gif_of_few_colours_is_exact(run, tmp_path, monkeypatch):
    """With at most 255 colours nothing is lost; LZW is followed through all its code sizes."""
    random = np.random.default_rng(5)
    colors = random.integers(0, 1 << 24, 200).astype(np.uint32) | np.uint32(255 << 24)
    frames = [colors[random.integers(0, 200, (130, 90))] for _ in range(4)]
    frames.append(frames[-1])
    monkeypatch.setattr(type(run), "canvas", lambda self, step, *_: frames[step])
    path = export_gif(run, tmp_path / "a.gif", stop=4)
    film = Image.open(path)
    assert film.n_frames == 5
    for step, frame in enumerate(frames):
        film.seek(step)
        meant = frame.view(np.uint8).reshape(130, 90, 4)[..., :3]
        assert np.array_equal(np.array(film.convert("RGB")), meant), f"frame {step}"


def test_equal_runs_give_equal_gifs(run, tmp_path):
    for name in ("a.gif", "b.gif"):
        export_gif(run, tmp_path / name, scale=5, stop=9)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_an_mp4_of_odd_size_is_padded_on_purpose(run, tmp_path, monkeypatch):
    """Field case 56: 130 x 90 must not become 144 x 96, nor lose or gain a frame."""
    y, x = np.indices((131, 91))
    frames = [
        ((y * 2) | (x * 2 << 8) | (20 * step << 16) | (255 << 24)).astype(np.uint32)
        for step in range(12)
    ]
    monkeypatch.setattr(type(run), "canvas", lambda self, step, *_: frames[step])
    path = export_mp4(run, tmp_path / "a.mp4", fps=5, stop=11)
    reader = imageio_ffmpeg.read_frames(str(path))
    facts = next(reader)
    shown = [np.frombuffer(frame, np.uint8).reshape(132, 92, 3) for frame in reader]
    assert facts["size"] == (92, 132)
    assert facts["fps"] == 5
    assert len(shown) == 12
    for step, frame in enumerate(frames):
        meant = frame.view(np.uint8).reshape(131, 91, 4)[..., :3].astype(int)
        assert np.abs(shown[step][:131, :91] - meant).mean() < 6, f"frame {step}"
        assert shown[step][131:].mean() < 60


def test_an_mp4_has_every_step(run, tmp_path):
    path = export_mp4(run, tmp_path / "a.mp4", scale=8, panel="full", start=3, stop=20)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert (count, seconds) == (18, pytest.approx(18 / 8, abs=0.01))


@pytest.mark.parametrize("export", [export_gif, export_mp4])
def test_a_film_that_would_be_too_large_says_how_large(run, tmp_path, monkeypatch, export):
    monkeypatch.setattr(video, "SIZE_LIMIT", 2000)
    path = tmp_path / "film"
    path = path.with_suffix(".gif" if export is export_gif else ".mp4")
    with pytest.raises(ConfigError, match=r"41 frames would take about \d+ MB") as caught:
        export(run, path, scale=16)
    assert re.search("fewer steps or a smaller scale", str(caught.value))
    assert not path.exists()


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"fps": 0}, "fps = 0: allowed 1 to 50 for gif"),
        ({"start": 5, "stop": 4}, "steps 5 to 4: allowed are steps 0 to 40"),
        ({"stop": 41}, "steps 0 to 41"),
        ({"panel": "left"}, "allowed map, full"),
    ],
)
def test_bad_wishes_for_a_film_are_named(run, tmp_path, wish, says):
    with pytest.raises(ConfigError, match=says):
        export_gif(run, tmp_path / "a.gif", **wish)


def test_a_place_that_cannot_be_written_is_named(run, tmp_path):
    for export, name in ((export_png, "a.png"), (export_gif, "a.gif"), (export_mp4, "a.mp4")):
        with pytest.raises(ConfigError, match="cannot be written"):
            export(run, tmp_path / "nowhere" / name, scale=2)


def test_without_ffmpeg_the_install_command_is_told(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingPrerequisite, match=r"pip install 'cooplab\[video\]'"):
        export_mp4(run, tmp_path / "a.mp4")
