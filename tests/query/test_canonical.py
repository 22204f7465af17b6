"""Keys name what a question means: explicit tags, defaults left out, nothing of classes, names or plans."""

import dataclasses
import inspect

from discreet.query import canonical, nodes, parts, recipe, tags
from discreet.query.canonical import meaning
from discreet.query.nodes import And, Caps, Col, Compare, Literal, Question
from discreet.query.sql import parse_sql

GOLDEN = {
    "SELECT COUNT(*) AS n FROM people": '{"by":[],"caps":{"is":"caps"},"measures":[{"is":"count_rows"}],'
    '"table":"people","where":null}',
    "SELECT AVG(age) AS m FROM people WHERE sex = 'f' AND age > 17.5 GROUP BY region": (
        '{"by":[{"is":"column","name":"region"}],"caps":{"is":"caps"},'
        '"measures":[{"is":"mean","item":{"is":"column","name":"age"}}],"table":"people",'
        '"where":{"is":"and","parts":['
        '{"is":"compare","left":{"is":"column","name":"age"},"op":">","right":{"is":"constant",'
        '"value":{"is":"fraction","of":"35/2"}}},'
        '{"is":"compare","left":{"is":"column","name":"sex"},"op":"=","right":{"is":"constant","value":"f"}}]}}'
    ),
}


def dataclasses_of(module):
    kinds = (kind for _, kind in inspect.getmembers(module, inspect.isclass) if kind.__module__ == module.__name__)
    return {kind for kind in kinds if dataclasses.is_dataclass(kind)}


def test_meanings_are_spelt_for_good():
    for text, spelt in GOLDEN.items():
        assert meaning(parse_sql(text).question) == spelt


def test_every_node_part_and_recipe_has_a_tag_and_all_its_fields():
    """A field that is forgotten here would be forgotten by keys: two questions would share an answer."""
    listed = canonical.NODES | tags.PARTS | tags.RECIPES
    assert dataclasses_of(nodes) | dataclasses_of(parts) | dataclasses_of(recipe) <= set(listed)
    for kind, form in (listed | tags.LAWS).items():
        assert list(form.names) == [field.name for field in dataclasses.fields(kind)], kind


def test_names_and_clauses_about_released_rows_are_not_in_the_meaning():
    plain = parse_sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region").question
    for text in (
        "SELECT region, COUNT(*) AS visits FROM people GROUP BY region",
        "SELECT region AS where_from, COUNT(*) AS n FROM people GROUP BY region",
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING COUNT(*) > 5 ORDER BY n DESC LIMIT 3",
    ):
        assert meaning(parse_sql(text).question) == meaning(plain)


def test_every_change_of_the_measurement_changes_the_meaning():
    texts = (
        "SELECT COUNT(*) AS n FROM people",
        "SELECT COUNT(age) AS n FROM people",
        "SELECT COUNT(*) AS n, SUM(age) AS s FROM people",
        "SELECT COUNT(*) AS n FROM people WHERE age > 1",
        "SELECT COUNT(*) AS n FROM people WHERE age > 1.5",
        "SELECT COUNT(*) AS n FROM people GROUP BY region",
        "SELECT COUNT(*) AS n FROM patients",
        "SELECT VAR_POP(age) AS n FROM people",
        "SELECT VAR_SAMP(age) AS n FROM people",
    )
    assert len({meaning(parse_sql(text).question) for text in texts}) == len(texts)
    question = parse_sql(texts[0]).question
    assert meaning(dataclasses.replace(question, caps=Caps(rows=1))) != meaning(question)


def test_the_order_of_conditions_does_not_matter_and_their_number_does():
    a, b = Compare("=", Col("x"), Literal(1)), Compare("=", Col("y"), Literal(True))
    first, other = (Question("t", (), where=And(both)) for both in ((a, b), (b, a)))
    assert meaning(first) == meaning(other)
    assert meaning(Question("t", (), where=a)) != meaning(first)
    assert meaning(Question("t", (), where=Compare("=", Col("x"), Literal(True)))) != meaning(
        Question("t", (), where=a)
    )
