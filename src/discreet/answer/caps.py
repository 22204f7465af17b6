"""What a column counts where a cap can bind: of at most so many rows, in at most so many groups, of one unit; and among
which points a quantile is chosen, where they are coarser than its values.

Public facts only.  Whether a unit has more rows than its cap is private, so the words stand wherever it could.
"""

from discreet.query.bound import Draft
from discreet.query.explain import plural, points_apart, unit
from discreet.query.meaning.fold import is_fixed
from discreet.query.parts import Distinct, Part, Units
from discreet.query.recipe import Picked, Recipe, parts


def counted_of(recipe: Recipe, draft: Draft) -> str | None:
    """The words for a column made by this recipe; None where no cap leaves anything out and no point is coarse."""
    points = points_apart(recipe.part, draft.schema) if isinstance(recipe, Picked) else None
    return "; ".join(words for words in (_capped(recipe, draft), points) if words is not None) or None


def _capped(recipe: Recipe, draft: Draft) -> str | None:
    if draft.schema.unit is None or not any(_is_capped(part, draft) for part in parts(recipe)):
        return None
    once = all(isinstance(part, Units | Distinct) for part in parts(recipe))
    return of_at_most(draft.reach.rows, unit(draft.schema), groups=draft.caps.groups, seen=once)


def of_at_most(rows: int, who: str, *, groups: int | None = None, called: str = "group", seen: bool = False) -> str:
    """The words themselves; `seen` where something is counted once however many of the rows show it.

    So many rows lie in no more groups, and a cap on groups that is not lower is not spoken of.

    >>> of_at_most(10, "patient_id"), of_at_most(5, "patient_id", groups=3, seen=True)
    ('of at most 10 rows per patient_id', 'seen in at most 5 rows, in at most 3 groups, per patient_id')
    """
    first = f"{'seen in' if seen else 'of'} at most {plural(rows, 'row')}"
    return (
        f"{first} per {who}"
        if groups is None or groups >= rows
        else f"{first}, in at most {plural(groups, called)}, per {who}"
    )


def _is_capped(part: Part, draft: Draft) -> bool:
    """Whether rows beyond the cap could change the part: a unit is still seen by any one row, where the groups, the
    filter and the value counted are the same on all of its rows."""
    looked_at = [key.item for key in draft.question.keys]
    looked_at += [] if draft.question.where is None else [draft.question.where]
    match part:
        case Units():
            return not all(is_fixed(item, draft.schema) for item in looked_at)
        case Distinct(item):
            return not all(is_fixed(each, draft.schema) for each in [*looked_at, item])
        case _:
            return True
