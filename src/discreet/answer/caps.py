"""State what a column counts where a cap can bind: at most so many rows, in at most so many groups, of one unit; and
among which points a quantile is chosen, where they are coarser than its values.

Public facts only.  Whether a unit has more rows than its cap is private, so the cap is stated wherever it could bind.
"""

from discreet.query.bound import Draft
from discreet.query.explain import plural, points_apart, unit
from discreet.query.meaning.fold import is_fixed
from discreet.query.parts import Distinct, Part, Units
from discreet.query.recipe import Picked, Recipe, parts


def counted_of(recipe: Recipe, draft: Draft) -> str | None:
    """The words for a column made by this recipe; None where no cap leaves anything out and no point is coarse."""
    points = points_apart(recipe.part, draft.schema) if isinstance(recipe, Picked) else None
    return "; ".join(words for words in (_cap_words(recipe, draft), points) if words is not None) or None


def _cap_words(recipe: Recipe, draft: Draft) -> str | None:
    if draft.schema.unit is None or not any(_is_capped(part, draft) for part in parts(recipe)):
        return None
    seen = all(isinstance(part, Units | Distinct) for part in parts(recipe))
    return of_at_most(draft.reach.rows, unit(draft.schema), groups=draft.caps.groups, seen=seen)


def of_at_most(rows: int, who: str, *, groups: int | None = None, called: str = "group", seen: bool = False) -> str:
    """The words themselves; `seen` where something is counted once however many of the rows show it.

    That many rows lie in no more groups, so a cap on groups that is not lower is left out.

    >>> of_at_most(10, "patient_id"), of_at_most(5, "patient_id", groups=3, seen=True)
    ('of at most 10 rows per patient_id', 'seen in at most 5 rows, in at most 3 groups, per patient_id')
    """
    words = f"{'seen in' if seen else 'of'} at most {plural(rows, 'row')}"
    if groups is not None and groups < rows:
        words += f", in at most {plural(groups, called)},"
    return f"{words} per {who}"


def _is_capped(part: Part, draft: Draft) -> bool:
    """Whether rows beyond the cap could change the part: any one row shows a unit if the groups, the filter and the
    value counted are the same on all of its rows."""
    items = [key.item for key in draft.question.keys]
    items += [] if draft.question.where is None else [draft.question.where]
    match part:
        case Units():
            return not all(is_fixed(item, draft.schema) for item in items)
        case Distinct(counted):
            return not all(is_fixed(item, draft.schema) for item in [*items, counted])
        case _:
            return True
