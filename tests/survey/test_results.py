"""Estimates of files and of counts on paper, beside slow twins; those that say nothing are refused."""

import re
from fractions import Fraction

import numpy as np
import pytest

from discreet.engine.reports import write_reports
from discreet.errors import BadValue, NotAnswerable, SourceUnavailable
from discreet.noise.source import SYSTEM
from discreet.privacy.amplify import shuffled_any, shuffled_response
from discreet.survey.collected import INVENTED_FACT, SURVEY_FACT
from discreet.survey.reading import survey_of
from discreet.survey.report import report_page
from discreet.survey.results import Terms, estimate_counts, estimate_cross, estimate_file, radius
from discreet.survey.shuffled import shuffled_promise
from discreet.survey.simulation import simulate
from discreet.survey.store import Entry, Store
from survey.surveys import HOURS, YES_NO, coins, mixed, tax


def write(path, survey, people=20_000, truth=(), **facts):
    simulation = simulate(survey, people, truth, seed=3)
    write_reports(path, simulation.reports, simulation.groups, {SURVEY_FACT: survey.digest, **facts})
    return simulation


def test_an_estimate_is_its_formula_over_the_reports_of_each_group(tmp_path):
    survey = tax()
    simulation = write(tmp_path / "r.parquet", survey)
    code = survey.questions[0].protocol.code
    results = estimate_file(survey, tmp_path / "r.parquet", Terms(), by="region")
    assert [result.group for result in results] == ["North", "South"]
    for result in results:
        members = np.array(simulation.groups["region"]) == result.group
        yes = int(simulation.reports["q1"][members].sum())
        slow = (Fraction(yes, int(members.sum())) - code.lie) / (code.truth - code.lie)
        assert result.estimate["yes"].estimate == pytest.approx(float(slow), abs=1e-12)


def test_paper_counts_are_unbiased_by_two_coins():
    results = estimate_counts(coins(), "412", "1000", Terms())
    (result,) = results
    row = result.estimate["yes"]
    assert row.estimate == pytest.approx(2 * 0.412 - 0.5)
    assert (round(row.low, 4), round(row.high, 4)) == (0.2626, 0.3865)
    assert estimate_counts(tax(), "412", "1000", Terms()).epsilon == coins().epsilon > tax().epsilon
    assert result.to_json()["rows"][1]["moe"] == pytest.approx(radius(row))


def test_paper_counts_work_whatever_the_page_uses():
    survey = survey_of(
        {
            "title": "x",
            "epsilon": "3",
            "questions": {"q1": YES_NO | {"required": False, "method": "auto"}, "hours": HOURS},
        }
    )
    (result,) = estimate_counts(survey, 412, 1000, Terms(), name="q1")
    assert [row.value for row in result.estimate] == ["no", "yes"]
    with pytest.raises(BadValue):
        estimate_counts(survey, 412, 1000, Terms())
    with pytest.raises(BadValue):
        estimate_counts(survey, 412, 1000, Terms(), name="hours")


@pytest.mark.parametrize(("yes", "people"), [("11", "10"), ("-1", "10"), ("x", "10"), ("1", "0"), ("1", "x")])
def test_counts_that_cannot_be_are_refused(yes, people):
    with pytest.raises(BadValue):
        estimate_counts(coins(), yes, people, Terms())


def test_estimates_are_not_clipped_unless_asked(tmp_path):
    """A share of 0 in 20 groups of 1,000 people: some estimate is below 0 but for a chance of 2⁻²⁰."""
    survey = tax(groups={"region": [f"r{number}" for number in range(20)]})
    write(tmp_path / "r.parquet", survey, truth=["q1=0"])
    free = estimate_file(survey, tmp_path / "r.parquet", Terms(), by="region")
    assert min(result.estimate["yes"].estimate for result in free) < 0
    clipped = estimate_file(survey, tmp_path / "r.parquet", Terms(project="clip"), by="region")
    assert min(result.estimate["yes"].estimate for result in clipped) == 0
    assert any("biased" in sentence for sentence in clipped.caveats)


def test_a_group_with_too_few_reports_has_a_reason_and_no_numbers(tmp_path):
    survey = tax()
    reports = np.zeros((1002, 1), dtype=np.uint8)
    write_reports(tmp_path / "r.parquet", {"q1": reports}, {"region": ["North"] * 1000 + ["South"] * 2}, {})
    north, south = estimate_file(survey, tmp_path / "r.parquet", Terms(), by="region")
    assert north.estimate is not None
    assert (south.estimate, south.to_json()["rows"]) == (None, [])
    assert "± exceeds 1" in south.to_json()["refused"]
    write_reports(tmp_path / "n.parquet", {"q1": reports}, {"region": ["North"] * 1002}, {})
    _, empty = estimate_file(survey, tmp_path / "n.parquet", Terms(), by="region")
    assert (empty.estimate, empty.reason) == (None, "There are no valid reports.")


def test_a_file_without_valid_reports_is_refused(tmp_path):
    write_reports(tmp_path / "r.parquet", {"q1": np.full((9, 1), 7, dtype=np.uint8)}, {}, {})
    with pytest.raises(BadValue):
        estimate_file(tax(), tmp_path / "r.parquet", Terms())


def test_crossed_shares_find_those_of_independent_answers(tmp_path):
    """n = 20,000; intervals at 1 − 1e-7 of eight pairs miss with probability below 1e-6."""
    survey = mixed("split", "6")
    write(tmp_path / "r.parquet", survey, truth=["q1=0.3", "q2=a:1"])
    (result,) = estimate_cross(survey, tmp_path / "r.parquet", "q1,q2", Terms(level="0.9999999"))
    row = result.estimate["yes", "a"]
    assert row.low <= 0.3 <= row.high
    assert not row.low <= 0.45 <= row.high
    assert result.to_json()["rows"][0]["value"] == ["no", "a"]


@pytest.mark.parametrize("names", ["q1", "q1,q1", "q1,q9", "q1,hours", "q1,q2,hours"])
def test_what_cannot_be_crossed_is_refused(tmp_path, names):
    write(tmp_path / "r.parquet", mixed("split"), 100)
    with pytest.raises(BadValue):
        estimate_cross(mixed("split"), tmp_path / "r.parquet", names, Terms())


def test_nothing_is_crossed_in_a_sampled_survey(tmp_path):
    write(tmp_path / "r.parquet", mixed("sampled"), 100)
    with pytest.raises(NotAnswerable):
        estimate_cross(mixed("sampled"), tmp_path / "r.parquet", "q1,q2", Terms())


def test_a_shuffled_promise_is_that_of_the_whole_submission(tmp_path):
    write(tmp_path / "r.parquet", tax())
    promise = shuffled_promise(tax(), tmp_path / "r.parquet", "1e-6")
    assert promise == shuffled_response(tax().epsilon, 10_000, "1e-6").cost  # of the smaller of two equal groups
    for survey in (mixed("split"), mixed("sampled")):
        write(tmp_path / f"{survey.mode}.parquet", survey, 5000)
        promise = shuffled_promise(survey, tmp_path / f"{survey.mode}.parquet", "1e-6")
        assert promise == shuffled_any(survey.epsilon, 5000, "1e-6").cost


def test_a_server_is_no_shuffler_and_a_daily_report_is_seen_often(tmp_path):
    with Store.open_or_create(tmp_path / "a.sqlite", tax()) as store:
        store.take([Entry(bytes(32), 0, b"\0")], open_to_all=True, rejected={})
    with pytest.raises(NotAnswerable):
        shuffled_promise(tax(), tmp_path / "a.sqlite", "1e-6")
    write(tmp_path / "r.parquet", tax(every="day"), 100)
    with pytest.raises(NotAnswerable):
        shuffled_promise(tax(every="day"), tmp_path / "r.parquet", "1e-6")


def test_invented_people_and_rejected_reports_are_told(tmp_path):
    write(tmp_path / "r.parquet", tax(), 100, **{INVENTED_FACT: "x"})
    results = estimate_file(tax(), tmp_path / "r.parquet", Terms())
    assert results.is_invented
    assert results.caveats[0].startswith("INVENTED")
    write_reports(tmp_path / "b.parquet", {"q1": np.array([[0]] * 50 + [[9]], dtype=np.uint8)}, {}, {})
    rejected = estimate_file(tax(), tmp_path / "b.parquet", Terms())
    assert rejected.results[0].rejected == 1
    assert any(sentence.startswith("1 reports cannot") for sentence in rejected.caveats)


def test_a_report_is_one_page_without_requests_and_with_every_text_escaped(tmp_path):
    evil = "<script>alert(1)</script>\u202e\x1b"
    question = {"text": evil, "values": [evil + "a", "b"], "required": True}
    facts = {"title": evil, "consent": evil, "contact": evil, "epsilon": "2", "groups": {"region": [evil, "S"]}}
    survey = survey_of(facts | {"questions": {"q1": question, "hours": HOURS}})
    write(tmp_path / "r.parquet", survey, 2000, **{INVENTED_FACT: "x"})
    page = report_page(survey, estimate_file(survey, tmp_path / "r.parquet", Terms(), by="region"))
    assert "<script" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert not any(mark in page for mark in ("http:", "https:", "src=", "href=", "url("))
    assert page.count("<svg") == 4
    assert "INVENTED" in page


def test_a_person_alone_in_a_group_has_no_crowd(tmp_path):
    """10,000 in the North and one in the South: the promise is for everyone, so it is the local ε."""
    reports = {"q1": tax().questions[0].draw(np.zeros(10_001, dtype=np.int64), np.ones(10_001, dtype=bool), SYSTEM)}
    for alone in ("South", "nowhere"):
        groups = {"region": ["North"] * 10_000 + [alone]}
        write_reports(tmp_path / f"{alone}.parquet", reports, groups, {SURVEY_FACT: tax().digest})
        promise = shuffled_promise(tax(), tmp_path / f"{alone}.parquet", "1e-6")
        assert promise.epsilon > tax().epsilon * Fraction(999, 1000)
    write_reports(tmp_path / "plain.parquet", reports, {}, {SURVEY_FACT: tax().digest})
    plain = shuffled_promise(tax(), tmp_path / "plain.parquet", "1e-6")
    assert plain == shuffled_response(tax().epsilon, 10_001, "1e-6").cost


def test_groups_that_the_survey_does_not_name_are_crowds_of_their_own(tmp_path):
    """A different text in each row is a token, whatever the column is called."""
    reports = {"q1": tax().questions[0].draw(np.zeros(6_000, dtype=np.int64), np.ones(6_000, dtype=bool), SYSTEM)}
    for crowd in (1, 2):
        groups = {"region": [f"village {row // crowd}" for row in range(6_000)]}
        write_reports(tmp_path / f"{crowd}.parquet", reports, groups, {SURVEY_FACT: tax().digest})
        promise = shuffled_promise(tax(), tmp_path / f"{crowd}.parquet", "1e-6")
        assert promise.epsilon > tax().epsilon * Fraction(99, 100)


def test_impossible_reports_are_suspected_of_respondents_too(tmp_path):
    for people in (5_000, 20_000):
        write_reports(tmp_path / f"{people}.parquet", {"q1": np.ones((people, 1), dtype=np.uint8)}, {}, {})
        results = estimate_file(tax(), tmp_path / f"{people}.parquet", Terms(of="respondents"))
        assert any("wholly outside" in sentence for sentence in results.caveats)
        assert all(0 <= row.low <= row.high <= 1 for row in results.results[0].estimate)


def test_a_file_that_tells_people_apart_has_no_shuffled_promise(tmp_path):
    reports = {"q1": np.zeros((9, 1), dtype=np.uint8)}
    write_reports(tmp_path / "r.parquet", reports, {"email": [f"{i}@b.test" for i in range(9)]}, {})
    with pytest.raises(NotAnswerable, match="email"):
        shuffled_promise(tax(), tmp_path / "r.parquet", "1e-6")


def test_rows_of_a_sampled_survey_that_answer_several_questions_or_none_are_left_out(tmp_path):
    survey = mixed("sampled")
    simulation = simulate(survey, 5_000, seed=3)
    reports = {name: rows.copy() for name, rows in simulation.reports.items()}
    for rows in reports.values():
        rows[:40] = 0  # nobody was asked anything
    for name in ("q1", "q2"):
        rows = reports[name]
        rows[40:70] = rows[rows[:, 0] == 1][0]  # asked both
    write_reports(tmp_path / "r.parquet", reports, simulation.groups, {SURVEY_FACT: survey.digest})
    results = estimate_file(survey, tmp_path / "r.parquet", Terms())
    assert sum(result.reports for result in results) <= 4_930
    assert any(sentence.startswith("70 people have reports to none or to several") for sentence in results.caveats)
    whole = shuffled_promise(survey, tmp_path / "r.parquet", "1e-6")
    assert whole.epsilon >= shuffled_any(survey.epsilon, 4_930, "1e-6").cost.epsilon


def test_reports_of_another_survey_file_are_suspected_where_an_interval_cannot_be(tmp_path):
    strong = survey_of({"title": "x", "epsilon": "10", "questions": {"q1": YES_NO, "hours": HOURS}, "mode": "split"})
    weak = survey_of({"title": "x", "epsilon": "2", "questions": {"q1": YES_NO, "hours": HOURS}, "mode": "split"})
    simulation = simulate(strong, 5_000, ["q1=0.01"], seed=3)
    write_reports(
        tmp_path / "r.parquet", {"q1": simulation.reports["q1"], "hours": simulation.reports["hours"]}, {}, {}
    )
    told = estimate_file(weak, tmp_path / "r.parquet", Terms()).caveats
    assert any("lies wholly outside" in sentence and "q1" in sentence for sentence in told)
    assert any("does not say which survey" in sentence for sentence in told)
    write(tmp_path / "own.parquet", strong, 5_000, ["q1=0.01"])
    assert not any("wholly outside" in s for s in estimate_file(strong, tmp_path / "own.parquet", Terms()).caveats)


def test_a_name_that_stands_for_several_files_is_refused(tmp_path):
    with pytest.raises(SourceUnavailable, match="other files"):
        write(tmp_path / "r[1].parquet", tax(), 100)
    write(tmp_path / "r1.parquet", tax(), 200)
    (tmp_path / "r1.parquet").rename(tmp_path / "r[1].parquet")
    with pytest.raises(SourceUnavailable, match="other files"):
        estimate_file(tax(), tmp_path / "r[1].parquet", Terms())


def test_slips_that_cost_more_than_the_survey_say_so():
    assert any("costs more" in sentence for sentence in estimate_counts(tax(), 412, 1000, Terms()).caveats)
    assert not any("costs more" in sentence for sentence in estimate_counts(coins(), 412, 1000, Terms()).caveats)


def test_a_report_rounds_odds_up_and_does_not_praise_a_large_epsilon(tmp_path):
    for epsilon, odds, sure, praised in (("1.1", "3.01", "75.1", True), ("20", "478,000,000", "100", False)):
        survey = survey_of({"title": "x", "epsilon": epsilon, "questions": {"q1": YES_NO}})
        write(tmp_path / "r.parquet", survey, 1000)
        page = report_page(survey, estimate_file(survey, tmp_path / "r.parquet", Terms()))
        assert f"at most {odds} times" in page
        assert ("protects little" not in page) is praised
        assert f"at most {sure} % sure" in page
        assert "E+" not in page
        (tmp_path / "r.parquet").unlink()


def test_pictures_of_groups_share_one_axis(tmp_path):
    write(tmp_path / "r.parquet", tax(), 2_000)
    page = report_page(tax(), estimate_file(tax(), tmp_path / "r.parquet", Terms(), by="region"))
    axes = [re.findall(r'text-anchor="middle">([^<]+)<', svg) for svg in page.split("<svg")[1:]]
    assert len(axes) == 2
    assert axes[0] == axes[1]
    assert "0" in axes[0]
