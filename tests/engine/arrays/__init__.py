"""A second engine, on arrays in this process: a twin to compare the engine on files with."""
