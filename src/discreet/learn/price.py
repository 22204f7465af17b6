"""What a model may cost, parsed once: ε, (ε, δ) or ρ, and the noise that a share of it buys.

δ = 0     Laplace noise; shares of ε add up          the whole is Pure(ε)
δ > 0     Gaussian noise; shares of 1/σ² add up      the whole is Gaussian(σ), σ the least for (ε, δ)
ρ         Gaussian noise with σ = 1/√(2ρ)            ε is its price at δ
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import BadValue, bad, short_text
from discreet.mechanism import additive
from discreet.mechanism.additive import Additive
from discreet.privacy import calibrate, price
from discreet.privacy.cost import Cost, Gaussian, Pure
from discreet.terms import Terms

_GIVE = "Give epsilon, epsilon and delta, or rho."


@dataclass(frozen=True)
class Price:
    """The terms, and σ per unit of l2 where noise is Gaussian; None where it is Laplace's."""

    terms: Terms
    sigma: Fraction | None
    is_rho: bool = False  # it was typed as ρ, and (ε, δ) only state it

    @property
    def is_pure(self) -> bool:
        """Whether δ is 0."""
        return self.sigma is None

    @property
    def law(self) -> str:
        """The law of the noise, by its name."""
        return "Laplace" if self.is_pure else "Gaussian"

    @property
    def cost(self) -> Cost:
        """What is charged for the whole."""
        return Pure(self.terms.epsilon) if self.sigma is None else Gaussian(self.sigma)

    @property
    def mu(self) -> float:
        """1/σ of Gaussian noise: how well one unit can be told; 0 where noise is Laplace's."""
        return 0.0 if self.sigma is None else float(1 / self.sigma)

    def mechanism(self, sensitivity: Sensitivity, share: Fraction) -> Additive:
        """The noise that this share of the price buys."""
        if self.sigma is None:
            return additive.laplace(sensitivity, self.terms.epsilon * share)
        return additive.gaussian_share(sensitivity, self.sigma, share)

    def laws(self) -> "tuple[Price, ...]":
        """The prices to choose from: this one and, where δ need not be spent, the same ε without it.

        A price that was typed as ρ has no other: Laplace noise for its ε could cost many times that ρ.
        """
        if self.is_pure or self.is_rho:
            return (self,)
        terms = Terms(self.terms.epsilon, Fraction(0), self.terms.level, self.terms.typed_delta)
        return self, Price(terms, None)


def price_of(terms: Terms) -> Price:
    """The price of typed terms."""
    if terms.delta == 0:
        return Price(terms, None)
    return Price(terms, calibrate.gaussian_sigma(terms.epsilon, terms.delta))


def require_single_price(epsilon: Any, rho: Any) -> None:
    """Refuses a fit with two prices, and one with none."""
    if epsilon is not None and rho is not None:
        given = f"You gave epsilon {short_text(epsilon)} and rho {short_text(rho)}."
        raise BadValue("epsilon and rho are two prices for one fit.", given, "Leave out one of the two.")
    if epsilon is None and rho is None:
        raise bad("epsilon", "must be given, or rho in its place", None, _GIVE)


def parse_price(epsilon: Any, delta: Any = None, rho: Any = None) -> Price:
    """The price that a caller of an estimator typed; exactly one of ε and ρ."""
    require_single_price(epsilon, rho)
    if rho is None:
        return price_of(Terms.parse(epsilon, 0 if delta is None else delta))
    if delta is None:
        raise bad("delta", "must be given with rho, to state its epsilon", delta, 'Give, for example, delta="1e-6".')
    return rho_price(rho, amounts.delta(delta, ceiling=Fraction(1, 2)))


def rho_price(rho: Any, delta: Fraction) -> Price:
    """The price of ρ-zCDP by Gaussian noise, stated as (ε, δ)."""
    if delta == 0:
        raise bad("delta", "must be above 0 with rho", delta, "ρ has no finite ε at δ = 0.")
    sigma = calibrate.zcdp_sigma(rho)
    epsilon = Fraction(amounts.rounded_up(price.epsilon(Gaussian(sigma), delta).value, 12))
    return Price(Terms(epsilon, delta), sigma, is_rho=True)
