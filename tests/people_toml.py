"""Metadata of a small table of people, whose columns, unit and budget the tests choose."""

TOWN = '[columns.town]\ntype = "category"\n'
TEMPLATE = """\
[dataset]
name = "people"
source = "{source}"
{dataset}[unit]
key = "{key}"
max_rows = {max_rows}
[columns.region]
type = "category"
values = ["north", "south"]
{region}[columns.age]
type = "integer"
bounds = [0, 110]
{columns}[budget]
{budget}
"""


def people_toml(
    budget: str,
    *,
    columns: str = "",
    key: str = "person",
    max_rows: int = 2,
    source: str = "people.csv",
    dataset: str = "",
    region: str = "",
) -> str:
    """The text of a metadata file with a region, an age and the given columns.

    `budget`, `columns`, `dataset` and `region` are lines of TOML: of the budget, of further columns, and added to the
    tables of the dataset and of the region.
    """
    return TEMPLATE.format(
        budget=budget, columns=columns, key=key, max_rows=max_rows, source=source, dataset=dataset, region=region
    )
