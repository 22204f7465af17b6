"""Two relations, named in one way."""

import pytest

from discreet.errors import BadValue
from discreet.relation import Relation, relation


@pytest.mark.parametrize(
    ("given", "meant"),
    [("add-remove", Relation.ADD_REMOVE), ("replace-one", Relation.REPLACE_ONE), (Relation.REPLACE_ONE,) * 2],
)
def test_a_relation_is_read_by_name(given, meant):
    assert relation(given) is meant
    assert str(meant) == meant.value


@pytest.mark.parametrize(
    "value", [None, "", "Add-Remove", "add_remove", "add-remove ", 1, True, [], {}, object(), "x" * 5000]
)
def test_a_value_that_is_no_relation_is_refused_with_both_names(value):
    with pytest.raises(BadValue) as caught:
        relation(value)
    assert caught.value.what == "relation must be 'add-remove' or 'replace-one'."
    assert caught.value.why.startswith("You gave ")
    assert caught.value.__suppress_context__
