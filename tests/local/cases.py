"""The protocols that tests of local/ go through, and slow twins written from the rules of words alone."""

from fractions import Fraction as F

from discreet.local import binary, hashed, kary, subset, two_coins, unary
from discreet.local.protocol import ValueProtocol

EPSILONS = ("0.1", "1", "1.0986122886681098", "4")
SIDES = 2**32


def tiny_protocols() -> list[ValueProtocol]:
    """Every kind with few enough outputs to list: k ≤ 6, all of the ε, several fields."""
    protocols = [two_coins()]
    for epsilon in EPSILONS:
        protocols.append(binary(epsilon))
        protocols += [kary(epsilon, size) for size in (2, 3, 5, 6)]
        protocols += [subset(epsilon, size) for size in (2, 3, 5, 6)]
        protocols += [unary(epsilon, size) for size in (2, 3, 6)]
        protocols += [hashed(epsilon, size, field) for size, field in ((2, 2), (6, 2), (5, 3), (6, 4), (4, 5), (6, 8))]
        protocols.append(hashed(epsilon, 6))
    return protocols


def name_of(protocol: ValueProtocol) -> str:
    """What a test is called."""
    order = getattr(protocol.code, "order", "")
    return f"{protocol.name}{order}-{len(protocol.values)}-{float(protocol.epsilon):.3g}"


# --- slow twins: one word at a time --------------------------------------------------------------------------------


class Tape:
    """Words in order, and how many were read."""

    def __init__(self, words):
        self.words, self.read = list(words), 0

    def word(self):
        self.read += 1
        return self.words[self.read - 1]

    def uniform(self, size):
        while True:
            word = self.word()
            if word < SIDES - SIDES % size:
                return word % size


def slow_report(law, answer, tape):
    """The report that the integers of a law (`to_json`) and words give."""
    kind = law["kind"]
    if kind == "response":
        coin, other = tape.word(), tape.uniform(law["size"])
        number = answer if coin < law["keep"] else other
    elif kind == "hashed":
        field, digits = law["field"], law["digits"]
        seed = tape.uniform(field**digits)
        coin, other = tape.word(), tape.uniform(field)
        symbol = slow_inner(seed, answer, field, digits, law["polynomial"])
        number = seed * field + (symbol if coin < law["keep"] else other)
    elif kind == "unary":
        bits = [tape.word() < (law["yes"] if value == answer else law["no"]) for value in range(law["size"])]
        return bytes(sum(bit << i for i, bit in enumerate(bits[8 * b : 8 * b + 8])) for b in range(law["bytes"]))
    elif kind == "subset":
        number = sum(2**value for value in slow_set(law, answer, tape))
    elif kind == "number":
        number = slow_number(law, answer, tape)
    else:
        up, down = slow_run(law["more"], tape), slow_run(law["more"], tape)
        reach, steps = law["reach"], law["steps"]
        number = sorted((-reach, answer + up - down, steps + reach))[1] + reach
    return bytes(number // 256**i % 256 for i in range(law["bytes"]))


def slow_set(law, answer, tape):
    """Floyd's rule: from the values up to `last` one is drawn; where it is there already, `last` itself enters."""
    size, chosen, members = law["size"], law["chosen"], []
    for last in range(size - chosen, size):
        value = tape.uniform(last + 1)
        members = [*members, last if value in members else value]
    coin, place = tape.word(), tape.uniform(chosen)
    if answer in members or coin >= law["keep"]:
        return members
    return [*members[:place], answer, *members[place + 1 :]]


def slow_number(law, answer, tape):
    spread = law["steps"] + law["window"]
    if tape.word() < law["share"]:
        coin, inside, anywhere = tape.word(), tape.uniform(law["window"]), tape.uniform(spread)
        return answer + inside if coin < law["keep"] else anywhere
    return spread + (tape.word() < law["base"] + law["slope"] * answer)


def slow_run(threshold, tape):
    length = 0
    while tape.word() < threshold:
        length += 1
    return length


def slow_inner(seed, answer, field, digits, polynomial):
    """⟨seed, answer⟩ digit by digit, products by school multiplication of polynomials where there is one."""
    total = 0
    for _ in range(digits):
        (seed, a), (answer, b) = divmod(seed, field), divmod(answer, field)
        if field & (field - 1):
            total = (total + a * b) % field
        else:
            total ^= slow_product(a, b, field, polynomial)
    return total


def slow_product(a, b, field, polynomial):
    if not polynomial:
        return a * b % field
    product = 0
    for shift in range(field.bit_length()):
        product ^= (a << shift) * (b >> shift & 1)
    for shift in range(2 * field.bit_length(), -1, -1):
        if product >> shift & field:
            product ^= polynomial << shift
    return product


def slow_support(law, report, value):
    """Whether a report supports a value, by the same integers."""
    if law["kind"] in ("unary", "subset"):
        return bool(report[value // 8] >> value % 8 & 1)
    number = int.from_bytes(report, "little")
    if law["kind"] == "response":
        return number == value
    seed, symbol = divmod(number, law["field"])
    return slow_inner(seed, value, law["field"], law["digits"], law["polynomial"]) == symbol


def moments(law, estimates):
    """Mean and variance of the estimates over an exact law."""
    mean = sum((chance * estimates[report] for report, chance in law.items()), start=F(0))
    square = sum((chance * estimates[report] ** 2 for report, chance in law.items()), start=F(0))
    return mean, square - mean**2
