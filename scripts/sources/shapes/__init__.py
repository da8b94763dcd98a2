"""What a row of a published file stands for: a file per shape, which an entry names (`shape:`).

Each has a function `texts(row, columns, place)`: a row, the names of columns (of the contract to
those of the file) and where the row stands, for messages, in; texts, each a mapping from columns of
the contract to values, out. Files of their own, so that a new shape changes no dataset of another.
"""
