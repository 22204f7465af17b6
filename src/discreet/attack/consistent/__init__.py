"""Which databases could have led to the published tables: parsing, exact counting, enumeration and sampling."""
