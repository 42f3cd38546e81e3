"""What the evaluator announces to the rooms above it, which it does not know."""

from django.dispatch import Signal

trained = Signal()  # sender: ComparatorVersion; version: the one that a worker just trained
