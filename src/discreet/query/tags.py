"""The tags under which an answered question is stored: its nodes, parts, recipes and laws of noise."""

from discreet.bounded import Sensitivity
from discreet.mechanism.additive import Additive
from discreet.mechanism.keys import KeySelection
from discreet.mechanism.quantile import Quantile
from discreet.mechanism.select import ExponentialMechanism, TopK
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy import cost as costs
from discreet.query import canonical, parts, recipe
from discreet.relation import Relation
from discreet.schema import Lattice
from discreet.tagged import Form, Single, Tags

PARTS = {
    parts.Rows: Form("rows", "of"),
    parts.Units: Form("units"),
    parts.Distinct: Form("distinct", "item"),
    parts.RowSum: Form("row_sum", "item lattice"),
    parts.Grid: Form("grid", "first step points"),
    parts.Ranks: Form("ranks", "item grid q"),
    parts.Tops: Form("tops", "item values k"),
    parts.Present: Form("present"),
    parts.Sizes: Form("sizes", "group largest"),
    Lattice: Form("lattice", "low high step"),
}
RECIPES = {
    recipe.Centre: Form("centre", "middle half"),
    recipe.Single: Form("single", "part step"),
    recipe.MeanOf: Form("mean_of", "count total centre"),
    recipe.MeanAmong: Form("mean_among", "total centre n"),
    recipe.VarianceOf: Form("variance_of", "count total squares centre less power"),
    recipe.CovarianceOf: Form("covariance_of", "count x_total y_total products x y less"),
    recipe.CorrelationOf: Form("correlation_of", "both x_squares y_squares"),
    recipe.Picked: Form("picked", "part"),
    recipe.PickedTop: Form("picked_top", "part"),
}
LAWS = {
    Sensitivity: Form("sensitivity", "l0 l1 l2_squared linf relation"),
    DiscreteLaplace: Form("laplace", "scale"),
    RoundedGaussian: Form("rounded_gaussian", "sigma"),
    DiscreteGaussian: Form("discrete_gaussian", "sigma"),
    Additive: Form("additive", "sensitivity cost noise"),
    ExponentialMechanism: Form("exponential", "sensitivity cost rate"),
    Quantile: Form("quantile_choice", "sensitivity q choice"),
    TopK: Form("top_k", "sensitivity cost k choice=one"),
    KeySelection: Form("key_selection", "sensitivity cost threshold noise"),
}
_SINGLES = (
    Single("relation", Relation, str, Relation),
    Single("cost", costs.KINDS, costs.to_json, costs.from_json),
)
TAGS = Tags(canonical.NODES | PARTS | RECIPES | LAWS, (*canonical.SINGLES, *_SINGLES))
