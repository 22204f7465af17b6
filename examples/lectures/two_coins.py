"""Lecture 2: have you ever dodged a tax?  Two coins answer, and the share still comes out.

Run it with: python examples/lectures/two_coins.py
"""

import math
import random

import discreet as dp
from discreet.privacy.odds import response_posterior

survey = dp.local.two_coins()
yes, no = (survey.law(answer)[b"\x01"] for answer in ("yes", "no"))
print(f"P(yes | dodged) = {yes}, P(yes | did not) = {no}")
print(f"ε = {float(survey.epsilon):.4f}, ln 3 = {math.log(3):.4f}")
print(f"belief after a yes, 0.02 before: {float(response_posterior('0.02', yes, no)):.4f}")

people = random.Random(7).choices(["yes", "no"], [0.02, 0.98], k=10_000)
estimate = survey.estimate(survey.aggregate(survey.encode(people)))["yes"]
print(f"10,000 people, {people.count('yes') / 10_000:.3f} of them dodged: estimate {estimate.estimate:.3f}")
print(f"variance at share ½ over plain answers: {survey.variance('0.5', 1) / 0.25:g}")
