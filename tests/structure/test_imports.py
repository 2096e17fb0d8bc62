"""The house: who may import whom, no cycles, no import with a side effect."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("primitives", "worlds", "cognitive", "repair", "render", "lab")
MAY_IMPORT = {
    "primitives": set(),
    "worlds": {"primitives"},
    "cognitive": {"worlds"},
    "repair": {"worlds", "cognitive"},
    "render": {"worlds", "cognitive", "primitives"},
    "lab": {"primitives", "worlds", "cognitive", "repair", "render"},
}
NARROW = {  # importer -> package -> the modules of it that may be named
    "cognitive": {"worlds": {"api", "registry", "errors"}},
    "repair": {
        "worlds": {"api", "registry", "errors"},
        "cognitive": {"plans", "messages", "dialogue", "events", "protocols", "errors"},
    },
    "render": {
        "worlds": {"api", "registry", "errors"},
        "cognitive": {"plans", "events", "protocols", "errors"},
        "primitives": {"draw_kernels"},
    },
}
OUTSIDE = {"primitives": {"numpy", "numba"}, "repair": {"numpy", "scipy", "pydantic"}}
OPTIONAL = {
    "openai", "pygame", "pettingzoo", "gymnasium", "polars", "matplotlib", "networkx", "imageio",
    "imageio_ffmpeg", "ray", "xllamacpp", "scipy",
}  # fmt: skip


ADAPTERS = ("worlds.zoo", "worlds.conformance_zoo")
"""Modules built on an optional package; imported only when such an object is made."""


def modules(package):
    return sorted((ROOT / package).rglob("*.py"))


def name_of(path):
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path, inside_functions=None):
    """(module, line) of each import statement; `inside_functions` picks where it stands."""
    tree = ast.parse(path.read_text())
    local = {
        id(node)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(outer)
    }
    for node in ast.walk(tree):
        if inside_functions is not None and (id(node) in local) != inside_functions:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield node.module, node.lineno
            for alias in node.names:
                if (ROOT / node.module.replace(".", "/") / f"{alias.name}.py").exists():
                    yield f"{node.module}.{alias.name}", node.lineno


@pytest.mark.parametrize("package", PACKAGES)
def test_arrows_point_down(package):
    bad = []
    for path in modules(package):
        for target, line in imports(path):
            top, *rest = target.split(".")
            if top not in PACKAGES or top == package:
                continue
            narrow = NARROW.get(package, {}).get(top)
            if top not in MAY_IMPORT[package] or (narrow and (not rest or rest[0] not in narrow)):
                bad.append(f"{path.relative_to(ROOT)}:{line} imports {target}")
    assert not bad, "\n".join(bad)


def test_no_world_imports_another():
    worlds = [p.name for p in (ROOT / "worlds").iterdir() if (p / "__init__.py").exists()]
    bad = [
        f"{path.relative_to(ROOT)}:{line} imports {target}"
        for world in worlds
        for path in modules(f"worlds/{world}")
        for target, line in imports(path)
        if target.split(".")[0] == "worlds"
        and len(target.split(".")) > 1
        and target.split(".")[1] in worlds
        and target.split(".")[1] != world
    ]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize("package", sorted(OUTSIDE))
def test_outside_packages_are_the_listed_ones(package):
    bad = [
        f"{path.relative_to(ROOT)}:{line} imports {target}"
        for path in modules(package)
        for target, line in imports(path)
        if target.split(".")[0] not in OUTSIDE[package] | set(PACKAGES) | sys.stdlib_module_names
    ]
    assert not bad, "\n".join(bad)


def test_no_cycle_between_modules():
    graph = {}
    for package in PACKAGES:
        for path in modules(package):
            here = name_of(path)
            graph[here] = {
                target
                for target, _ in imports(path, inside_functions=False)
                if target.split(".")[0] in PACKAGES and target != here
            }
    done, trail = set(), []

    def visit(module):
        if module in done or module not in graph:
            return
        assert module not in trail, " -> ".join([*trail[trail.index(module) :], module])
        trail.append(module)
        for target in sorted(graph[module]):
            visit(target)
        trail.pop()
        done.add(module)

    for module in sorted(graph):
        visit(module)


def test_only_optional_extras_are_imported_inside_functions():
    bad = [
        f"{path.relative_to(ROOT)}:{line} imports {target}"
        for package in PACKAGES
        for path in modules(package)
        for target, line in imports(path, inside_functions=True)
        if target.split(".")[0] not in OPTIONAL and not lazy_command(path)
    ]
    assert not bad, "\n".join(bad)


def lazy_command(path):
    """The command line may import late, so that `--help` stays fast."""
    return path.parent == ROOT / "lab" and path.name.startswith("cli")


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_has_no_side_effect(package, tmp_path):
    names = [name_of(p) for p in modules(package)]
    names = [name for name in names if name not in ADAPTERS]
    script = (
        "import os, sys, threading, random, importlib\n"
        "before = (dict(os.environ), threading.active_count(), os.getcwd(), random.getstate())\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        "after = (dict(os.environ), threading.active_count(), os.getcwd(), random.getstate())\n"
        "assert before == after, 'import changed the process'\n"
        "optional = {'openai', 'pygame', 'pettingzoo', 'polars', 'matplotlib', 'networkx',"
        " 'imageio', 'ray'} & set(sys.modules)\n"
        "assert not optional, f'imported optional packages: {sorted(optional)}'\n"
    )
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "" and done.stderr == "", done.stdout + done.stderr
    assert not list(tmp_path.iterdir())


def test_every_public_function_has_a_docstring():
    bad = []
    for package in PACKAGES:
        for path in modules(package):
            tree = ast.parse(path.read_text())
            if not ast.get_docstring(tree):
                bad.append(str(path.relative_to(ROOT)))
            for node in tree.body:
                is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                if is_definition and not node.name.startswith("_") and not ast.get_docstring(node):
                    bad.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not bad, "\n".join(bad)


def test_kernels_never_draw_from_a_library_stream():
    bad = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules("primitives")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "random"
    ]
    assert not bad, bad


def test_tree_holds_no_path_of_a_machine():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    bad = []
    needles = ("/wo" + "rk/", "/ro" + "ot/", "/fa" + "rm/")
    for name in listed.stdout.split():
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".html", ".js", ".css", "") and path.is_file():
            text = path.read_text(errors="replace")
            bad += [f"{name}: {needle}" for needle in needles if needle in text]
    assert not bad, bad
