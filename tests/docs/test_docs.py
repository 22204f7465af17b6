"""Documentation is tested: code runs, links resolve, verbs and modules have their place, nothing foreign is in it."""

import doctest
import functools
import importlib
import re
import subprocess
from pathlib import Path

import pytest

from discreet.cli import main

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "discreet"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROOFS = ROOT / "docs" / "proofs"
PAGE_IN_SOURCE = re.compile(r"docs/proofs/([\w/]+\.md)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")

WITHOUT_CLAIM = {  # a contract, a cache that is never believed, sentences, and randomness that protects nothing
    "__init__",
    "promise",
    "hints",
    "words",
    "public",
}
MODULES = sorted(
    path.relative_to(SRC).with_suffix("").as_posix()
    for folder in ("noise", "mechanism", "privacy")
    for path in (SRC / folder).glob("*.py")
    if path.stem not in WITHOUT_CLAIM
)

# Spelt in halves, so that this file does not hold what it looks for.
FOREIGN = {
    "a machine's path": r"(?<![\w.])/(?:wo" + r"rk|ro" + r"ot|t" + r"mp)/\w",
    "a package index": r"(?i)\bpy"
    + r"pi\b|python"
    + r"hosted|artif"
    + r"actory|jfr"
    + r"og|dev"
    + r"pi|index"
    + r"-url",
    "a number of some tracker": r"(?i)\biss" + r"ue #?\d",
    "an unfinished thought": r"\bTO" + r"DO\b|\bFIX" + r"ME\b",
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def texts() -> list[Path]:
    """Every text file that is, or would be, under version control."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    files = [ROOT / n for n in names if n and (ROOT / n).is_file()]
    return [file for file in files if b"\0" not in file.read_bytes()[:4096]]


def examples(page: Path) -> list[str]:
    """Blocks marked python."""
    return [code for language, code in FENCE.findall(page.read_text(encoding="utf-8")) if language == "python"]


def anchors(page: Path) -> set[str]:
    """What a link may name after #, as forges make it from headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def broken(page: Path, target: str) -> bool:
    file, _, anchor = target.partition("#")
    there = (page.parent / file).resolve() if file else page
    return not there.exists() or bool(anchor and there.suffix == ".md" and anchor not in anchors(there))


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=name)
def test_python_in_the_documentation_runs(page: Path) -> None:
    code = "\n".join(examples(page))
    test = doctest.DocTestParser().get_doctest(code, {}, name(page), str(page), 0)
    assert test.examples, "a block marked python has a prompt"
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test, out=told.append).failed == 0, "".join(told)


def test_readme_shows_python_and_the_two_commands_on_its_first_screen() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = "\n".join(readme.splitlines()[:12])
    assert "make demo" in first
    assert "make test" in first
    assert len(examples(ROOT / "README.md")) >= 3


def test_readme_names_every_verb() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    verbs = [command.name for command in main.app.registered_commands]
    assert {"demo", "odds"} <= set(verbs)
    assert [verb for verb in verbs if f"`discreet {verb}`" not in readme] == []


def proof_pages(module: str) -> list[Path]:
    """The page in the module's place, and pages that name it: `folder/module.py`, `module.py` or `module.function`."""
    folder, stem = module.split("/")
    shared = sum(other.endswith(f"/{stem}") for other in MODULES) > 1
    named = re.compile(rf"`{folder}/{stem}\.py`" if shared else rf"`(?:{folder}/)?{stem}\.\w+`")
    pages = PROOFS.rglob("*.md")
    return [page for page in pages if page == PROOFS / f"{module}.md" or named.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_proof_page(module: str) -> None:
    assert proof_pages(module), f"write docs/proofs/{module}.md"


def test_a_module_without_a_proof_would_be_found() -> None:
    assert proof_pages("mechanism/select") == [PROOFS / "mechanism" / "select.md"]
    assert proof_pages("mechanism/wishful") == []


def test_proof_pages_lie_where_their_modules_do() -> None:
    """Each page is named like a module or a folder of src, but for those about several modules or about slow twins."""
    about_several = {
        "answer/interval",
        "audit/shapes",
        "learn/counts",
        "learn/split",
        "learn/trees",
        "noise/timing",
        "release/fit/tables",
        "synth/engine",
    }
    pages = {page.relative_to(PROOFS).with_suffix("").as_posix() for page in PROOFS.rglob("*.md")}
    assert [
        page for page in pages - about_several if not ((SRC / f"{page}.py").exists() or (SRC / page).is_dir())
    ] == []


def test_pages_named_in_source_exist() -> None:
    files = [file for folder in ("src", "tests") for file in (ROOT / folder).rglob("*.py")]
    named = {page for file in files for page in PAGE_IN_SOURCE.findall(file.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert [page for page in sorted(named) if not (PROOFS / page).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_resolve(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = [t for t in LINK.findall(prose) if not t.startswith(("https://", "http://", "mailto:"))]
    assert [t for t in targets if broken(page, t)] == []


def test_a_broken_link_would_be_found() -> None:
    readme = ROOT / "README.md"
    assert broken(readme, "docs/nowhere.md")
    assert broken(readme, "docs/design.md#no-such-heading")
    assert not broken(readme, "docs/design.md#one-word-per-idea")


@pytest.mark.parametrize("what", FOREIGN)
def test_no_tracked_text_speaks_of_anything_but_the_project(what: str) -> None:
    pattern = re.compile(FOREIGN[what])
    foreign = [
        f"{name(file)}:{number}"
        for file in texts()
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert foreign == []


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("a machine's path", "see /wo" + "rk/notes"),
        ("a machine's path", '"/t' + 'mp/x"'),
        ("a package index", "https://py" + "pi.org/simple"),
        ("a number of some tracker", "as in iss" + "ue 3"),
        ("an unfinished thought", "# TO" + "DO later"),
    ],
)
def test_foreign_text_would_be_found(what: str, line: str) -> None:
    assert re.search(FOREIGN[what], line)


def named_object(dotted: str) -> object:
    """What a dotted name below `discreet` stands for; raises where there is nothing."""
    parts = ["discreet", *dotted.split(".")]
    for depth in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        return functools.reduce(getattr, parts[depth:], module)
    raise ModuleNotFoundError(dotted)


def test_words_of_the_glossary_name_what_is_in_the_code() -> None:
    rows = re.findall(
        r"^\|([^|]*)\|([^|]*)\|", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    words = [word.strip() for row in rows for word in row[0].split(",")]
    assert len(words) - len({word for word in words if word not in {"word", "---"}}) == 2 * words.count("word")
    dotted = [code for row in rows for code in re.findall(r"`([\w.]+)`", row[1])]
    assert len(dotted) > 40
    for code in dotted:
        named_object(code)


def test_a_word_without_code_would_be_found() -> None:
    with pytest.raises(AttributeError):
        named_object("bounded.Boundless")


def test_the_index_links_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in LINK.findall(index.read_text("utf-8"))}
    assert [name(page) for page in PAGES if page != index and page not in linked] == []


def tour_names(text: str) -> list[str]:
    """What the tour names, dotted: at a stop the functions behind its file, elsewhere a function with its file."""
    stops = re.findall(r"^\*\*\d+ · `([\w/]+)\.py`\*\*((?: `[\w.]+`,?)+)$", text, re.MULTILINE)
    named = [(file, function) for file, functions in stops for function in re.findall(r"`([\w.]+)`", functions)]
    named += [(file, function) for function, file in re.findall(r"`([\w.]+)`\s+\(`([\w/]+)\.py`\)", text)]
    files = re.findall(r"`([\w/]+)\.py`", text)
    return [f"{file}.{function}".replace("/", ".") for file, function in named] + [
        file.replace("/", ".") for file in files
    ]


def test_the_tour_names_files_and_functions_that_exist() -> None:
    names = tour_names((ROOT / "docs" / "why" / "tour.md").read_text(encoding="utf-8"))
    assert len(names) > 50
    for dotted in names:
        named_object(dotted)


def test_a_stop_of_the_tour_that_moved_would_be_found() -> None:
    (moved, _) = tour_names("**1 · `gate.py`** `undisclose`\n")
    with pytest.raises(AttributeError):
        named_object(moved)


def drawn_tree(text: str) -> set[str]:
    """The files that the tree in the design lists, each with its folder: the names after a folder are in it."""
    block = text[text.index("src/discreet/\n") :].split("\ntests/", 1)[0]
    folders: dict[int, str] = {0: ""}
    files = set()
    for line in block.splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 2
        parent = folders[depth - 1]
        if folder := re.match(r"\s*(\w+)/", line):
            parent = folders[depth] = f"{parent}{folder[1]}/"
        files |= {f"{parent}{file}" for file in re.findall(r"\b\w+\.py\b", line)}
    return files


def test_the_tree_of_the_design_lists_the_files_of_the_package() -> None:
    drawn = drawn_tree((ROOT / "docs" / "design.md").read_text(encoding="utf-8"))
    there = {file.relative_to(SRC).as_posix() for file in SRC.rglob("*.py")}
    assert sorted(drawn - there) == []
    assert sorted(file for file in there - drawn if not file.endswith("__init__.py")) == []


def test_paths_named_in_pages_exist() -> None:
    path = re.compile(r"\b(?:tests|benchmarks|docs)/[\w/]+\.(?:py|md|toml)\b")
    named = {
        (name(page), named)
        for page in PAGES
        for code in re.findall(r"`[^`\n]+`", page.read_text(encoding="utf-8"))
        for named in path.findall(code)
    }
    assert len(named) > 50
    assert [item for item in sorted(named) if not (ROOT / item[1]).exists() and "NAME" not in item[1]] == []


def test_pages_are_written_in_plain_words() -> None:
    banned = re.compile(r"(?i)\bguaranteed safe\b|\bcannot be identified\b|\bfully anonymous\b|\bgold standard\b")
    assert [name(page) for page in PAGES if banned.search(page.read_text(encoding="utf-8"))] == []
