"""Pictures with error bars, in one style; matplotlib is imported only when one is drawn."""
