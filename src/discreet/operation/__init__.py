"""What a user can have done: a call goes in, a reply comes out, and every surface spells both in its own way."""
