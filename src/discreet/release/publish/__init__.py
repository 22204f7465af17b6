"""A release as files for everyone: tidy tables, a page that needs nothing else, a report in words."""
