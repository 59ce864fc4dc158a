"""What no file of the project may do, found in its syntax: each rule is shown to find what it forbids."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("cares", "stages", "benchmarks")
PICKLES = frozenset({"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"})
# of multiprocessing, by another name
PICKLERS = frozenset({"ForkingPickler", "_ForkingPickler"})
USED = PICKLERS | {"pickle"}
ALLOWED = {
    # what a worker starts with, from a temporary file of this run that only its user can open
    ("cares/core/executor.py", "pickle"),
    ("cares/core/executor.py", "pickle used"),
    # its error is caught, nothing is read with it
    ("cares/models/ge2e.py", "pickle"),
    ("cares/speech/engines/coqui.py", "pickle"),
    # messages between the processes of one run, through a Ray that wants a token; none is read from a file
    ("cares/core/ray_executor.py", "pickle"),
    ("cares/core/ray_executor.py", "pickle used"),
    ("cares/core/ray_hand.py", "pickle"),
    ("cares/core/ray_hand.py", "pickle used"),
    # True only behind the check of every file's hash: cares/bench/adapters/pinned.py
    ("cares/bench/adapters/run.py", "trust_remote_code"),
}
RUNS = frozenset({"eval", "exec", "compile", "__import__"})
SHELLS = frozenset({"system", "popen", "getoutput", "getstatusoutput"})
UNPACKS = frozenset({"extractall", "unpack_archive"})
ANY_ADDRESS = re.compile(r"0\.0\.0\.0|\[::\]|::")


def faults(source: str) -> Iterator[tuple[str, int]]:
    """Rule and line of everything in a Python file that it should not do."""
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Import(names=names):
                yield from (("pickle", line) for name in names if name.name.split(".")[0] in PICKLES)
            case ast.ImportFrom(module=str(module), names=names):
                if module.split(".")[0] in PICKLES or any(name.name in PICKLERS for name in names):
                    yield "pickle", line
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in USED and attr != "UnpicklingError":
                yield "pickle used", line
            case ast.Constant(value=str(text)) if ANY_ADDRESS.fullmatch(text) or "--host 0.0.0.0" in text:
                yield "any address", line
            case ast.Call():
                yield from ((rule, line) for rule in _of_call(node))


def _of_call(call: ast.Call) -> Iterator[str]:
    name = ast.unparse(call.func)
    last = name.rpartition(".")[2]
    given = {one.arg: ast.unparse(one.value) for one in call.keywords if one.arg}
    if name in RUNS:
        yield "code from text"
    if given.get("shell", "False") != "False" or (name.startswith(("os.", "subprocess.")) and last in SHELLS):
        yield "shell"
    if given.get("trust_remote_code", "False") != "False":
        yield "trust_remote_code"
    if name == "torch.load" and given.get("weights_only") != "True":
        yield "torch.load"
    if name in ("np.load", "numpy.load") and given.get("allow_pickle") != "False":
        yield "np.load"
    if given.get("allow_pickle", "False") != "False":
        yield "allow_pickle"
    if name.startswith("yaml.") and last in ("unsafe_load", "unsafe_load_all", "full_load", "full_load_all"):
        yield "yaml"
    if name in ("yaml.load", "yaml.load_all"):
        loader = given.get("Loader") or ([*map(ast.unparse, call.args), ""])[1]
        if loader.rpartition(".")[2].rstrip(")") not in ("SafeLoader", "CSafeLoader", "_UniqueKeyLoader"):
            yield "yaml"
    if last in UNPACKS:
        yield "unpacking"
    if given.get("verify", "True") == "False" or last == "_create_unverified_context":
        yield "certificate"
    if given.get("follow_redirects", "False") != "False":
        yield "redirects"
    if last == "Environment" and "loader" in given and given.get("autoescape") != "True" and "report" in str(given):
        yield "autoescape"
    if name == "tempfile.mktemp":
        yield "mktemp"


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("import pickle", "pickle"),
        ("from joblib import load", "pickle"),
        ("import pickle\npickle.loads(b'')", "pickle used"),
        ("from multiprocessing.reduction import ForkingPickler", "pickle"),
        ("ForkingPickler.loads(b'')", "pickle used"),
        ("eval('1')", "code from text"),
        ("exec(text)", "code from text"),
        ("subprocess.run('ls', shell=True)", "shell"),
        ("os.system('ls')", "shell"),
        ("AutoModel.from_pretrained(x, trust_remote_code=True)", "trust_remote_code"),
        ("f(trust_remote_code=given)", "trust_remote_code"),
        ("torch.load(path)", "torch.load"),
        ("torch.load(path, weights_only=False)", "torch.load"),
        ("np.load(path)", "np.load"),
        ("np.load(path, allow_pickle=True)", "allow_pickle"),
        ("yaml.load(text)", "yaml"),
        ("yaml.load(text, Loader=yaml.FullLoader)", "yaml"),
        ("yaml.unsafe_load(text)", "yaml"),
        ("archive.extractall(folder)", "unpacking"),
        ("httpx.get(url, verify=False)", "certificate"),
        ("httpx.Client(follow_redirects=True)", "redirects"),
        ("server.bind(('0.0.0.0', 1))", "any address"),
        ("jinja2.Environment(loader=jinja2.PackageLoader('cares.report'))", "autoescape"),
    ],
)
def test_each_rule_finds_what_it_forbids(source: str, rule: str) -> None:
    assert rule in {found for found, _ in faults(source)}


@pytest.mark.parametrize(
    "source",
    [
        "torch.load(path, weights_only=True)",
        "np.load(path, mmap_mode='r', allow_pickle=False)",
        "yaml.load(text, _UniqueKeyLoader)",
        "yaml.safe_load(text)",
        "yaml.load(text, Loader=getattr(yaml, 'CSafeLoader', yaml.SafeLoader))",
        "model.eval()",
        "subprocess.run(['ls'])",
        "bind(('127.0.0.1', 0))",
    ],
)
def test_no_rule_finds_what_is_right(source: str) -> None:
    assert list(faults(source)) == []


def test_no_file_does_what_it_should_not() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 300
    found = set()
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        found |= {(name, rule, line) for rule, line in faults(path.read_text(encoding="utf-8"))}
    unexpected = sorted(one for one in found if one[:2] not in ALLOWED)
    assert unexpected == []
    assert {one[:2] for one in found} >= ALLOWED, "an exception that is no longer needed"


def test_no_template_switches_the_escaping_off() -> None:
    """`safe` is for a text that stands in the template itself."""
    templates = sorted((ROOT / "cares/report/templates").iterdir())
    assert len(templates) > 5
    for path in templates:
        text = path.read_text(encoding="utf-8")
        assert "autoescape" not in text, path.name
        for before in re.findall(r"(\S+)\s*\|\s*safe\b", text):
            assert before.endswith(("'", '"')), f"{path.name}: {before} | safe"


def test_html_is_declared_whole_in_one_place() -> None:
    makers = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "cares").rglob("*.py")
        if re.search(r"\bMarkup\(", path.read_text(encoding="utf-8"))
    }
    assert makers == {"cares/report/pages.py"}
