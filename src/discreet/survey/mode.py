"""Whether a questionnaire shares ε among its questions or asks each person one of them by chance.

Shared, a question has ε/Q and every person; by chance it has ε and one person in Q.  Compared are the variances of an
estimated share, noise and sampling, added over the questions and averaged over values:

    shared      v(ε/Q) + s            v   n times the noise variance of a share at that ε
    by chance   Q·(v(ε) + s)          s   f(1 − f) at f = 1/k; of a number 1/12 of its squared range
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.local.code import mean_noise
from discreet.local.number_protocol import NumberProtocol
from discreet.survey.question import Protocol

Build = Callable[[Fraction], Protocol]  # the protocol of a question at an ε


def choose_mode(epsilon: Fraction, builders: Sequence[Build]) -> tuple[str, str]:
    """ "split" or "sampled", whichever errs less, and why."""
    count = len(builders)
    if count == 1:
        return "split", "There is one question, and it has the whole ε."
    shared = sum(_variance(build(epsilon / count)) for build in builders)
    sampled = sum(count * _variance(build(epsilon)) for build in builders)
    name, less, more = ("split", shared, sampled) if shared <= sampled else ("sampled", sampled, shared)
    told = "every question is answered with its share of ε" if name == "split" else "each person is asked one question"
    ratio = float(more / less) ** 0.5
    return name, f"Errs less: {told}; the other way has {ratio:.2f} times the standard error."


def _variance(protocol: Protocol) -> Fraction:
    """n times the variance of an estimated share, or of a mean in units of its range."""
    if isinstance(protocol, NumberProtocol):
        steps = protocol.code.steps
        return max(protocol.code.variance(0), protocol.code.variance(steps // 2)) / steps**2 + Fraction(1, 12)
    share = Fraction(1, protocol.code.size)
    return mean_noise(protocol.code) + share * (1 - share)
