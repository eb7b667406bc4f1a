"""The catalogue: for each exercise, the mistakes that people make."""
