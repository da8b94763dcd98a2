"""Splits by checkpoint: which rows a published model was trained on before it, which only after."""
