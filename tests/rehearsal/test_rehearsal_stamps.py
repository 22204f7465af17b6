"""Nothing leaves a rehearsal without its stamp, and no rehearsed release passes for a real one."""

import hashlib
import json

import pytest

import discreet as dp
from discreet import metadata
from discreet.answer.answer import Answer
from discreet.errors import BadValue, IntegrityError
from discreet.rehearsal.stamp import SENTENCE, free_column
from discreet.release import read
from discreet.release.publish.files import BUILT, PUBLISHED, publish
from discreet.release.release import Release
from rehearsal.parts import SQL, TOML, written
from rooms import toy

TWO = "SELECT region, COUNT(*) AS n, SUM(cost) AS total FROM people GROUP BY region"


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    with dp.open(written(tmp_path_factory.mktemp("stamps")), rehearsal=True) as dataset:
        yield dataset


@pytest.fixture(scope="module")
def answer(rehearsed):
    return rehearsed.sql(TWO).ask(epsilon="0.5")


@pytest.fixture(scope="module")
def release(rehearsed):
    return rehearsed.release("geo", by="sex").build(epsilon="0.5")


# --- answers ---------------------------------------------------------------------------------------------------------


def test_an_answer_in_text_and_html_begins_with_the_stamp(answer):
    assert repr(answer).startswith(SENTENCE)
    assert repr(answer).splitlines()[1].split()[0] == "rehearsal"
    assert answer._repr_html_().startswith(f"<p><strong>{SENTENCE}")
    assert answer._repr_html_().count(">invented<") == 2
    assert answer.explain().startswith(SENTENCE)


def test_json_has_the_stamp_in_its_first_key_and_in_every_row(answer):
    told = answer.to_json()
    assert next(iter(told.items())) == ("rehearsal", True)
    assert next(iter(answer.provenance().items())) == ("rehearsal", True)
    assert [row["rehearsal"] for row in told["rows"]] == ["invented"] * 2
    assert told["receipt"].startswith("rehearsal-")
    assert b"REHEARSAL" in answer.to_bytes()


def test_frames_have_a_column_with_the_stamp(answer):
    pandas, polars, arrow = answer.to_pandas(), answer.to_polars(), answer.to_arrow()
    assert list(pandas["rehearsal"]) == polars["rehearsal"].to_list() == arrow["rehearsal"].to_pylist()
    assert set(pandas["rehearsal"]) == {"invented"}
    assert pandas.attrs["discreet"]["rehearsal"] is True
    assert json.loads(arrow.schema.metadata[b"discreet"])["rehearsal"] is True


def test_pictures_have_the_stamp_in_the_title_and_at_the_axis(answer):
    figure = answer.plot("n")
    assert figure.get_suptitle() == "REHEARSAL: n by region"
    assert figure.axes[0].get_xlabel().startswith("REHEARSAL: n")
    drawn = answer.plot(ax=answer.plot().axes[0])
    assert drawn.axes[0].get_xlabel().startswith("REHEARSAL: n")
    with pytest.raises(BadValue, match="answered column"):
        answer.plot("nothing")


def test_numbers_derived_from_an_answer_have_the_stamp(answer):
    worked = [*answer.share("n"), answer.difference("n", "north", "south"), *answer.ratio("total", "n")]
    assert all(str(number).startswith("REHEARSAL: ") for number in [*worked, *answer.column_difference("total", "n")])


def test_an_answer_in_python_has_the_form_of_the_real_one(answer):
    assert isinstance(answer, Answer)
    assert answer.keys == ("region",)
    assert [set(row) for row in answer.rows] == [{"region", "n", "total"}] * 2
    assert answer.row_index("south") == 1
    assert repr(answer.take([0])).startswith(SENTENCE)


def test_the_stamp_column_gives_way_to_a_column_of_its_name(rehearsed):
    named = rehearsed.group_by(rehearsal=dp.col("sex")).agg(n=dp.count()).ask(epsilon="0.1")
    assert list(named.to_pandas().columns) == ["rehearsal_", "rehearsal", "n", "n_moe"]
    assert free_column(["Rehearsal", "rehearsal_"]) == "rehearsal__"


def test_quotes_and_the_dataset_have_the_stamp(rehearsed):
    quote, plan = rehearsed.sql(SQL).quote(epsilon="0.1"), rehearsed.release("geo").quote(epsilon="0.1")
    assert repr(quote).startswith(SENTENCE)
    assert repr(plan).startswith(SENTENCE)
    assert next(iter(quote.to_json())) == next(iter(plan.to_json())) == "rehearsal"
    assert repr(rehearsed).startswith("<REHEARSAL on invented rows: dataset people")
    assert repr(rehearsed.release("geo")).startswith("<REHEARSAL on invented rows: release of people")


@pytest.fixture
def uncapped(tmp_path):
    """The metadata with a budget that the toy room takes all of."""
    toml = written(tmp_path, rows=0)
    toml.write_text(
        TOML.replace("epsilon = 3\n", f"epsilon = {toy.EPSILON}\n").replace("max_epsilon_per_question = 2\n", "")
    )
    return toml


def test_a_run_and_its_result_have_stamped_receipts(uncapped):
    with dp.open(uncapped, rehearsal=True) as rehearsed:
        run = rehearsed.table.run(toy.request(), toy.COST)
        assert run.receipt.startswith("rehearsal-")
        assert run.done(b"{}").receipt.name == run.receipt


def test_a_room_runs_in_a_rehearsal_and_is_replayed(uncapped):
    with dp.open(uncapped, rehearsal=True) as rehearsed:
        first = toy.toy(rehearsed.table)
        assert json.loads(first[0])["best"] == "north"
        assert toy.toy(rehearsed.table) == first
        assert rehearsed.budget.spent.epsilon == toy.EPSILON


def test_real_answers_have_no_stamp(tmp_path):
    with dp.open(written(tmp_path)) as real:
        answer, quote = real.sql(SQL).ask(epsilon=1), real.sql(SQL).quote(epsilon=1)
        release = real.release("geo").build(epsilon=1)
    assert (type(answer), type(release)) == (Answer, Release)
    for told in (repr(answer), answer._repr_html_(), json.dumps(answer.to_json()), repr(quote), repr(release)):
        assert "rehears" not in told.casefold()


# --- releases --------------------------------------------------------------------------------------------------------


def test_a_release_has_the_stamp_in_every_form(release):
    assert repr(release).startswith("<REHEARSAL on invented rows: release of people")
    assert release.receipt.startswith("rehearsal-")
    assert release.doubts[0] == SENTENCE
    assert set(release.to_arrow()["rehearsal"].to_pylist()) == set(release.to_polars()["rehearsal"]) == {"invented"}
    frame = release.to_pandas()
    assert set(frame["rehearsal"]) == {"invented"}
    assert next(iter(frame.attrs["discreet"].items())) == ("rehearsal", True)
    assert repr(release.resimulated(39)).startswith("<REHEARSAL")


def test_every_published_file_is_stamped(release, tmp_path):
    from pyarrow import parquet

    folder = tmp_path / "out"
    assert {path.name for path in release.publish(folder)} == set(PUBLISHED) == {p.name for p in folder.iterdir()}
    page, report = ((folder / name).read_text() for name in ("index.html", "report.md"))
    for said in ("<title>REHEARSAL: people", "<h1>REHEARSAL: people", '"title":"REHEARSAL: people', SENTENCE):
        assert said in page
    assert report.startswith("# REHEARSAL: people")
    assert "receipt rehearsal-" in report
    for name in ("table", "noisy"):
        header, *rows = (folder / f"{name}.csv").read_text().splitlines()
        assert header.endswith(',"rehearsal"')
        assert all(row.endswith(',"invented"') for row in rows)
        table = parquet.read_table(folder / f"{name}.parquet")
        assert set(table["rehearsal"].to_pylist()) == {"invented"}
        assert json.loads(table.schema.metadata[b"discreet"])["rehearsal"] is True
    facts = json.loads((folder / "release.json").read_text())
    assert next(iter(facts.items())) == ("rehearsal", True)
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in facts["files"]}
    assert digests == {name: file["sha256"] for name, file in facts["files"].items()}


def test_no_verb_takes_a_rehearsed_release_for_a_real_one(release, rehearsed, tmp_path):
    schema = rehearsed.table.schema
    assert {path.name for path in release.save(tmp_path / "built")} == set(BUILT)
    with pytest.raises(IntegrityError, match="not that of a release"):
        read.check_release(tmp_path / "built", schema)
    with pytest.raises(IntegrityError, match="not that of a release"):
        publish(tmp_path / "built", schema, tmp_path / "out")


def test_a_real_release_is_never_replaced_and_a_rehearsed_one_only_when_asked(release, tmp_path):
    with dp.open(written(tmp_path / "data")) as real:
        real.release("geo").build(epsilon=1).save(tmp_path / "real")
    before = (tmp_path / "real" / "release.json").read_bytes()
    for write in (release.save, release.publish):
        with pytest.raises(BadValue, match="must not hold a release"):
            write(tmp_path / "real", replace=True)
    assert (tmp_path / "real" / "release.json").read_bytes() == before
    assert read.check_release(tmp_path / "real", metadata.load(tmp_path / "data" / "people.toml").schema).problems == ()
    release.publish(tmp_path / "out")
    with pytest.raises(BadValue, match="another rehearsal"):
        release.save(tmp_path / "out")
    release.save(tmp_path / "out", replace=True)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(BUILT)


def test_inputs_of_the_real_dataset_are_not_written_over(rehearsed, release):
    with pytest.raises(BadValue, match="must not replace"):
        release.save(rehearsed.table.toml)
