"""One file per kind of view: a docstring that says what becomes of a text, one function `rewrite`.

``rewrite(texts, aside, *, seed, **settings)`` gets the texts of a dataset and its rows aside, and
gives the texts to read instead, all three tables TEXTS. Draws come from ``generator(seed, purpose,
text_id)``, so that a text's rewriting does not depend on the others.
"""
