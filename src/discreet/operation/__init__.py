"""The operations of a user: each takes a call and returns a reply, and every surface writes both in its own way."""
