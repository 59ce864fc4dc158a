"""Text from models, manifests and services stays text: in every page, in tables, in plots and on a terminal."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from report_world import CALIBRATION, PLACES, SOUNDS, make_build

from cares.bench.leaderboard import Cell, Row, to_csv, to_latex, to_markdown
from cares.core.canonical import Json, read_json, read_jsonl, write_json, write_jsonl
from cares.core.errors import CaresError
from cares.core.record import read_records
from cares.core.stage import run_stage
from cares.core.text import no_formula, plain, plain_lines
from cares.records.bank import Take
from cares.records.dialogue import Dialogue
from cares.report.inputs import read_inputs
from cares.report.show import show_scene
from cares.report.site import write_site
from cares.sounds.attribution import write_attribution

EVIL = (
    "<script>document.title='ran'</script>\" onload=\"document.title='ran'\" ' onmouseover='x </title></style></pre>"
    "</svg></script><img src=x onerror=\"document.title='ran'\"> javascript:alert(1) {{ 7 * 7 }} {% x %} &lt;b&gt; ]]>"
)
LINE = "A: " + EVIL
# texts that a model, an author or a service wrote; ids and labels are of fixed lists or checked
WRITTEN = frozenset(
    [
        "topic",
        "word",
        "transcript",
        "text",
        "detail",
        "spoken_as",
        "reason",
        "failure",
        "author",
        "licence",
        "source",
        "url",
        "writer",
        "evaluator",
        "title",
        "roles",
        "model",
        "choice",
        "voices",
        "note",
        "answers",
        "top",
        "name",
        "where",
        "finish_reason",
    ]
)


class Shape(HTMLParser):
    """Elements with the names of their attributes, values of the attributes, and all text."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.elements: Counter[tuple[str, ...]] = Counter()
        self.links: list[str] = []
        self.texts: list[str] = []
        self.raw: list[str] = []
        self._raw = False
        self.feed(page.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag, *sorted(name for name, _ in attrs)] += 1
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action", "formaction", "data")]
        self._raw = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._raw = False

    def handle_data(self, data: str) -> None:
        (self.raw if self._raw else self.texts).append(data)


def spoilt(value: Json, name: str = "") -> Json:
    """The value with every written text made evil."""
    if isinstance(value, dict):
        return {key: spoilt(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [spoilt(inner, name) for inner in value]
    return EVIL[:160] if isinstance(value, str) and name in WRITTEN and value else value


def spoil_build(root: Path) -> None:
    """Make every written text of a build evil, keeping what has to be one of a list."""
    for path in sorted(root.rglob("*.jsonl")):
        keep = {"choice", "source"} if path.parent.name == "answers" else {"finish_reason"}
        lines = []
        for line in read_jsonl(path):
            changed = spoilt(line)
            for name in ("reason", "finish_reason", *keep):
                if name in line and (path.parent.name == "answers" or line[name] == "accepted"):
                    changed[name] = line[name]
            lines.append(changed)
        write_jsonl(path, lines)
    for path in sorted(root.rglob("*.json")):
        write_json(path, spoilt(read_json(path)))
    (root / "metrics/plots/repeated_phrases.csv").write_text(
        f'kind,words,scenes\nline,"{EVIL.replace(chr(34), "")}",2\n'
    )


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The site of a build, and that of the same build with evil texts."""
    made = []
    for evil in (False, True):
        root = make_build(tmp_path_factory.mktemp("evil" if evil else "plain") / "set").root
        write_json(root / "metrics/calibration.json", CALIBRATION)
        write_json(root / "data/models.json", {"toy": {"id": "toy", "name": "n", "licence": "l", "revision": "r" * 40}})
        first, *rest = read_jsonl(root / "data/dialogues/attempts.jsonl")
        refused = [line | {"text": "not in any form"} for line in rest if line["scene_id"] == "t00003-0"]
        others = [line for line in rest if line["scene_id"] != "t00003-0"]
        write_jsonl(root / "data/dialogues/attempts.jsonl", [first, *others, *refused])
        if evil:
            spoil_build(root)
        write_site(read_inputs(root), SOUNDS, PLACES, 60, 1, root / "report")
        made.append(root / "report")
    return made[0], made[1]


def pages(site: Path) -> Iterator[Path]:
    yield from sorted(site.rglob("*.html"))


def test_evil_texts_make_no_element_and_no_attribute(sites: tuple[Path, Path]) -> None:
    plain_site, evil_site = sites
    names = [page.relative_to(plain_site).as_posix() for page in pages(plain_site)]
    assert {"index.html", "words.html", "benchmark.html", "listening.html", "audit.html"} <= set(names)
    assert names == [page.relative_to(evil_site).as_posix() for page in pages(evil_site)]
    seen = 0
    for name in names:
        before, after = Shape(plain_site / name), Shape(evil_site / name)
        # the parts that a text makes by its words, a turn or a word under a picture, are of the page's own making
        assert set(after.elements) <= set(before.elements), (name, set(after.elements) - set(before.elements))
        assert after.elements["script",] == before.elements["script",], name
        assert not any(attribute.startswith("on") for element in after.elements for attribute in element[1:]), name
        assert "='ran'" not in "".join(after.raw), name
        seen += "document.title='ran'" in "".join(after.texts)
    assert seen >= 4, "the texts are on the pages, as texts"


def test_no_link_of_a_page_runs_anything_or_leads_away(sites: tuple[Path, Path]) -> None:
    for page in pages(sites[1]):
        for link in Shape(page).links:
            parts = urlsplit(link)
            assert not parts.scheme and not parts.netloc, (page.name, link)
            assert not any(letter in link for letter in " \"'<>"), (page.name, link)


def test_the_script_of_a_page_is_the_same_whatever_was_written(sites: tuple[Path, Path]) -> None:
    for one, other in zip(pages(sites[0] / "scenes"), pages(sites[1] / "scenes"), strict=True):
        assert "".join(Shape(one).raw) == "".join(Shape(other).raw)


@pytest.mark.browser
def test_a_browser_runs_nothing_of_it(sites: tuple[Path, Path], tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    for page in (sites[1] / "words.html", next(pages(sites[1] / "scenes"))):
        flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
        done = subprocess.run([browser, *flags, page.as_uri()], capture_output=True, text=True, timeout=120)
        assert "</html>" in done.stdout
        dom = tmp_path / "dom.html"
        dom.write_text(done.stdout)
        shape = Shape(dom)
        assert not any("onload" in element or "onerror" in element for element in shape.elements)
        assert "<title>ran</title>" not in done.stdout


def test_plots_of_dvc_hold_words_of_letters_alone() -> None:
    """DVC sets the values of a plot into a script as they are, so what models wrote may not come there whole."""
    from cares.dialogue.diversity import repeated

    path = Path(__file__).parents[1] / "data/dialogues_small.jsonl"
    first = read_records(Dialogue, path)[0]
    said = "Well, </script><script>alert(1)</script> is what she said to me \"onload='x'."
    turn = first.turns[0].model_copy(
        update={"segments": (first.turns[0].segments[0].model_copy(update={"text": said}),)}
    )
    twice = [first.model_copy(update={"scene_id": f"t{n}", "turns": (turn, *first.turns[1:])}) for n in range(2)]
    words = [one.words for one in repeated(twice)]
    assert any("script" in line for line in words)
    assert all(letter.isalnum() or letter in " '-" for line in words for letter in line)


CELL = Cell("balanced_accuracy", 0.5, None, 10)


def row(kind: str, **texts: str) -> Row:
    known = {"system": "s", "model": "m", "source": "", "where": "", "note": ""} | texts
    return Row(kind, cells={"reactions-time": CELL}, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["ours", "published"])
def test_tables_escape_what_they_need(kind: str) -> None:
    evil = row(kind, system="=cmd|'/C calc'!A0", model="@x", source="<b>|\\input{/etc/passwd}", note="-1\n\\write18{x}")
    cells = to_csv([evil]).splitlines()
    assert not any(cell.startswith(("=", "@", "+", "-")) for line in cells for cell in line.split(","))
    table = to_markdown([evil])
    assert "<b>" not in table and "<script" not in table
    lines = [line for line in to_latex([evil]).splitlines() if "write18" in line or "input" in line]
    assert all(line.startswith("%") for line in lines)
    tex = to_latex([row(kind, system="\\input{x}$^_&#~%{}")])
    name = next(line for line in tex.splitlines() if "input" in line and not line.startswith("%"))
    assert "\\input" not in name and "\\textbackslash{}input\\{x\\}" in name


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1"])
def test_a_cell_is_no_formula(text: str, tmp_path: Path) -> None:
    assert no_formula(text) == f"'{text}" and no_formula("a=1") == "a=1"
    take = Take(
        take_id="dog_bark-01", kind="event", name="dog_bark", split="train", path="data/x.flac", n_samples=1,
        pcm_sha256="0" * 64, source="folder", licence="CC-BY-4.0", author=text, url=text, edits=(text,),
    )  # fmt: skip
    write_attribution(tmp_path / "a.csv", [take])
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as stream:
        _, cells = csv.reader(stream)
    assert cells.count(f"'{text}") == 3
    assert no_formula("\r=1") == "'\r=1"


CONTROL = "a\x1b[2J\x1b]0;title\x07b\x9b31mc\u202ed\r\x00e"


def test_control_characters_reach_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_build(tmp_path / "set").root
    path = root / "data/scenes/scenes.jsonl"
    first, *rest = read_jsonl(path)
    first |= {"topic": CONTROL, "roles": [CONTROL, CONTROL], "voices": [CONTROL, CONTROL], "location": CONTROL}
    first["words"] = [word | {"word": CONTROL} for word in first["words"]]
    write_jsonl(path, [first, *rest])
    attempts = root / "data/dialogues/attempts.jsonl"
    write_jsonl(attempts, [line | {"detail": CONTROL, "text": CONTROL} for line in read_jsonl(attempts)])

    def fails() -> None:
        raise CaresError(f"a server said: {CONTROL}\nsecond line")

    with pytest.raises(SystemExit) as caught:
        run_stage(fails)
    shown = [show_scene(first["scene_id"], root), show_scene("t00003-0", root), str(caught.value), plain(CONTROL)]
    assert "second line" in shown[2].splitlines()[1]
    for text in shown:
        assert text and not set("\x1b\x07\x9b\u202e\r\x00") & set(text)
    assert plain_lines("a\x1bb\n c") == "a?b\n c"


def test_an_error_about_a_pulled_file_shows_its_value_escaped(tmp_path: Path) -> None:
    path = tmp_path / "scenes.jsonl"
    path.write_text(json.dumps({"scene_id": CONTROL, CONTROL: 1}) + "\n")
    command = (
        "from cares.core.stage import run_stage; from cares.core.record import read_records; from pathlib import Path\n"
        f"from cares.records.scene import Scene; run_stage(lambda: read_records(Scene, Path({str(path)!r})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 1 and "scenes.jsonl" in done.stderr
    assert not set("\x1b\x07\x9b\u202e\x00") & set(done.stderr)
