"""Lower bounds on ε: what a mechanism surely costs, beside what it claims to cost."""
