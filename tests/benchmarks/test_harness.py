"""The harness's arithmetic, with workers that only pretend: nothing here is timed, installed or fetched."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from benchmarks.harness import Job
from benchmarks.report import Aim, Report, Table, verdict

from benchmarks import __main__ as command
from benchmarks import asking, deep_steps, environment, harness, local, noise, serve, start, synth_peers

ROOT = Path(__file__).resolve().parents[2]
PINS = sorted((ROOT / "benchmarks" / "peers").glob("*/requirements.txt"))
OURS, THEIRS = Job("ours", "law", "10", 1000), Job("theirs", "law", "10", 100)


@dataclass
class Fake:
    """Tells the seconds it was given, one after another, and notes which jobs it was asked."""

    name: str
    asked: list[tuple[str, int]]
    seconds_left: list[float] = field(default_factory=list)

    def seconds(self, job: Job) -> float:
        self.asked.append((self.name, job.n))
        return self.seconds_left.pop(0) if self.seconds_left else 1.0


def test_rounds_alternate_between_workers_and_turn_back_every_other_time() -> None:
    asked: list[tuple[str, int]] = []
    workers = {name: Fake(name, asked) for name in ("ours", "theirs")}
    harness.interleaved([OURS, THEIRS], workers, 3)
    there, back = [("ours", 1000), ("theirs", 100)], [("theirs", 100), ("ours", 1000)]
    assert asked == [("ours", 100), ("theirs", 10), *there, *back, *there]


def test_the_first_short_round_is_not_counted() -> None:
    workers = {"ours": Fake("ours", [], [99.0, 1.0, 2.0, 3.0])}
    assert list(harness.interleaved([OURS], workers, 3)[OURS]) == [1.0, 2.0, 3.0]


def test_a_job_of_one_sample_still_warms_up() -> None:
    asked: list[tuple[str, int]] = []
    harness.interleaved([Job("ours", "law", "10", 1)], {"ours": Fake("ours", asked)}, 1)
    assert asked == [("ours", 1), ("ours", 1)]


def test_no_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="rounds must be at least 1"):
        harness.interleaved([OURS], {"ours": Fake("ours", [])}, 0)


def test_rates_are_by_the_median_round() -> None:
    assert harness.per_second(OURS, {OURS: [0.5, 100.0, 0.25, 0.5, 0.001]}) == 2000


def test_ratio_is_cpu_time_per_sample_of_the_first_over_the_second() -> None:
    timings = {OURS: [1.0, 2.0, 9.0], THEIRS: [4.0, 30.0, 3.0]}
    assert harness.ratio(THEIRS, OURS, timings) == pytest.approx((4 / 100) / (2 / 1000))
    assert harness.ratio(OURS, THEIRS, timings) == pytest.approx((2 / 1000) / (4 / 100))


def test_range_pairs_the_rounds() -> None:
    timings = {OURS: [1.0, 2.0, 9.0], THEIRS: [4.0, 30.0, 3.0]}
    assert harness.ratio_range(THEIRS, OURS, timings) == pytest.approx((3 / 0.9, 150))


def test_worker_times_the_draw_alone_and_counts_the_samples() -> None:
    clock, wall = iter([10.0, 12.5]), iter([100.0, 107.0])
    ready: list[str] = []

    def law(scale: str) -> Callable[[int], list[int]]:
        ready.append(scale)
        return lambda n: [0] * n

    line = json.dumps({"worker": "fake", "law": "zeros", "scale": "0.5", "n": 7})
    told = json.loads(serve.answered(line, {"zeros": law}, lambda: next(clock), lambda: next(wall)))
    assert told == {"seconds": 2.5, "wall": 7.0, "drawn": 7}
    assert ready == ["0.5"]


def test_worker_answers_one_line_per_job() -> None:
    out = io.StringIO()
    line = json.dumps({"law": "zeros", "scale": "1", "n": 3}) + "\n"
    serve.serve({"zeros": lambda scale: lambda n: [0] * n}, [line, line], out)
    assert [json.loads(answer)["drawn"] for answer in out.getvalue().splitlines()] == [3, 3]


_CHEAT = """
import sys
for line in sys.stdin:
    print('{"seconds": 1.0, "drawn": 5}', flush=True)
"""


@pytest.fixture
def cheat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "cheat.py").write_text(_CHEAT)
    (tmp_path / "quitter.py").write_text("")
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    return "cheat"


def test_worker_that_draws_fewer_samples_is_refused(cheat: str) -> None:
    with harness.started(Path(sys.executable), cheat) as worker:
        assert worker.seconds(Job("cheat", "law", "1", 5)) == 1.0
        with pytest.raises(RuntimeError, match="drew 5 samples for 6"):
            worker.seconds(Job("cheat", "law", "1", 6))


def test_worker_that_ends_is_named(cheat: str) -> None:
    with harness.started(Path(sys.executable), "quitter") as worker:
        worker.running.wait()
        with pytest.raises(RuntimeError, match="worker ours ended during law at scale 10"):
            worker.seconds(OURS)


def test_every_peer_pins_every_part_and_nothing_else() -> None:
    assert [path.parent.name for path in PINS] == [
        "diffprivlib",
        "interpret",
        "mbi",
        "numpy",
        "opacus",
        "opendp",
        "opendp_polars",
        "pure_ldp",
        "smartnoise",
        "smartnoise_synth",
    ]
    for path in PINS:
        for line in path.read_text().splitlines():
            assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line), f"{path}: {line}"


def test_numpy_is_compared_at_the_version_we_run() -> None:
    pins = environment.requirements("numpy").read_text().split()
    assert set(pins) <= set((ROOT / "constraints.txt").read_text().split())


def test_every_peer_compared_has_its_pins() -> None:
    peers = (
        {worker for worker, _ in noise.LAWS} - {noise.OURS}
        | asking.PEERS.keys()
        | {"interpret", local.PEER, deep_steps.PEER, *synth_peers.PEERS}
    )  # of models, reports and synthetic tables
    assert peers == {path.parent.name for path in PINS}


def test_an_environment_with_the_same_pins_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "_run", lambda peer, line: pytest.fail(f"would set up {peer}"))
    pins = environment.requirements("fake")
    pins.parent.mkdir(parents=True)
    pins.write_text("part==1\n")
    home = tmp_path / ".venv-fake"
    home.mkdir()
    (home / ".ok").write_text("part==1\n")
    assert environment.python_of("fake") == home / "bin" / "python"


def test_an_environment_with_other_pins_is_made_afresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "_run", lambda peer, line: ran.append(line))
    pins = environment.requirements("fake")
    pins.parent.mkdir(parents=True)
    pins.write_text("part==2\n")
    home = tmp_path / ".venv-fake"
    home.mkdir()
    (home / ".ok").write_text("part==1\n")
    environment.python_of("fake")
    assert [line[1:4] for line in ran] == [["-m", "venv", "--clear"], ["-m", "pip", "install"]]
    assert (home / ".ok").read_text() == "part==2\n"


def test_a_peer_that_cannot_be_set_up_is_named_with_the_last_reason() -> None:
    failing = [sys.executable, "-c", "import sys; print('first', file=sys.stderr); sys.exit('last reason')"]
    with pytest.raises(environment.PeerUnavailable, match="fake could not be set up: last reason"):
        environment._run("fake", failing)


def _timings(left_out: str = "") -> dict[Job, list[float]]:
    """Ours makes 10⁷ samples a second, NumPy 2·10⁷, the others 10⁵."""
    rates = {noise.OURS: 1e7, "numpy": 2e7, "opendp": 1e5, "diffprivlib": 1e5}
    jobs = [noise.job(law, scale) for law in noise.LAWS for scale in noise.SCALES if law[0] != left_out]
    return {job: [job.n / rates[job.worker]] * 5 for job in jobs}


def test_noise_ratios_say_how_much_faster_than_peers_and_slower_than_numpy() -> None:
    report = noise.reported(_timings())
    for each in report.figures["ratios"]:
        wanted = 2 if each["over"].startswith("numpy") else 100
        assert [r["median"] for r in each["ratios"]] == pytest.approx([wanted] * 3)
    met = {(each["aim"], each["met"]) for each in report.figures["ratios"]}
    assert {("≤ 3", True), ("≤ 8", True), (None, None)} <= met


def test_noise_report_leaves_out_a_peer_that_was_not_measured() -> None:
    report = noise.reported(_timings("opendp"), ("Not measured: opendp",))
    text = json.dumps(report.figures)
    assert "opendp" not in text
    assert "diffprivlib" in text
    assert report.notes == ("Not measured: opendp",)


def test_aims_are_met_only_by_every_figure() -> None:
    assert Aim(at_least=100).met(100, 250)
    assert not Aim(at_least=100).met(99.9, 250)
    assert not Aim(at_most=3).met(2, 3.1)
    assert [verdict(None, 1), verdict(Aim(at_most=3), 3), verdict(Aim(at_most=3), 4)] == ["", "yes", "no"]
    assert [Aim(at_least=100).text(), Aim(at_most=0.5).text(" s")] == ["≥ 100", "≤ 0.5 s"]


def test_packages_are_read_from_the_import_trace() -> None:
    trace = (
        "import time: self [us] | cumulative | imported package\nimport time: 12 | 34 |   scipy.special\nnoise | os\n"
    )
    assert start.packages(trace) == {"imported package", "scipy"}


def test_each_run_of_a_start_has_its_own_number() -> None:
    numbered = start.Start("ask", ["discreet", "ask", "--eps", "0.01{run}"], None)
    assert [numbered.nth(run)[-1] for run in (1, 2)] == ["0.011", "0.012"]


def test_start_leaves_out_a_demo_that_cannot_be_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(folder: Path) -> start.Start:
        raise subprocess.CalledProcessError(1, ["discreet", "prepare"])

    monkeypatch.setattr(start, "demo_ask", fails)
    monkeypatch.setattr(start, "cpu_and_wall", lambda command: (0.1, 0.2))
    monkeypatch.setattr(start, "imported", lambda command: {"scipy"})
    report = start.report()
    assert [each["command"] for each in report.figures] == [each.name for each in start.STARTS]
    assert report.notes == ("Not measured: discreet ask; the demo table could not be prepared.",)


def test_command_prints_one_json_object(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("Title", "What [it] means", ("a", "b"), (("1", "2"),))
    monkeypatch.setattr(command, "_report", lambda topic: Report((table,), {"x": 1}, ("a note",)))
    command.main(["noise", "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert printed["noise"] == {"figures": {"x": 1}, "notes": ["a note"]}
    command.main(["start"])
    shown = capsys.readouterr().out
    assert all(part in shown for part in ("Title", "What [it] means", "a note"))


def test_unknown_topic_is_refused_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["nosie"])
    assert f"no topic nosie; there are {', '.join(command.TOPICS)}" in capsys.readouterr().err
