"""The charged check of a synthetic table: how far its shares lie from those of the private one."""
