"""The shapes of a model that is a sum of them (additive, naive Bayes), as values and as a picture."""

from typing import Any

from discreet.errors import bad
from discreet.learn.counts.shape_model import ShapeModel
from discreet.learn.fit import Fit
from discreet.plot.shapes import Shape, shapes_picture


def shapes_of(fit: Fit, label: Any = None) -> tuple[Shape, ...]:
    """For each feature how far each cell moves the score of a class, by default the last, above the mean of the others.

    Of two classes these are log-odds.
    """
    model, classes = fit.model, fit.plan.subject.classes
    if not isinstance(model, ShapeModel):
        fix = "Fit AdditiveClassifier or NaiveBayes."
        raise bad("model", "must be a sum of shapes", fit.facts.learner, fix)
    chosen = classes[-1] if label is None else label
    if chosen not in classes:
        raise bad("label", f"must be one of {', '.join(map(str, classes))}", label, "Name a class.")
    place = classes.index(chosen)
    shapes = []
    for feature, table in zip(fit.plan.subject.features, model.shapes, strict=True):
        others = [index for index in range(len(classes)) if index != place]
        heights = tuple(float(height) for height in table[place] - table[others].mean(axis=0))
        if feature.values is None:
            edges = tuple(float(edge) for edge in feature.edges(model.bins))
            shapes.append(Shape(feature.name, heights, edges=edges))
        else:
            shapes.append(Shape(feature.name, heights, labels=tuple(map(str, feature.values))))
    return tuple(shapes)


def shapes_figure(fit: Fit, label: Any = None) -> Any:
    """The picture of all shapes."""
    subject = fit.plan.subject
    chosen = subject.classes[-1] if label is None else label
    title = f"How each feature moves the log-odds of {subject.target.name} = {chosen}"
    return shapes_picture(shapes_of(fit, label), title=title)
