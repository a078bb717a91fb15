"""Reads what people write: `text` folds words; the others read one value out of a phrase."""
