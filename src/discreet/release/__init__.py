"""Tables that add up: noisy counts over a tree of places, fitted so that every sum holds and no count is negative."""
