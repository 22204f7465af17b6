"""The ledger records what was spent, refuses what exceeds the budget, and survives crashes."""
