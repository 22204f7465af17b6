"""Questions as the engine's SQL: total functions on the prepared table, and its integers back."""
