"""What the evaluator announces to the rooms above it, which it does not know."""

from django.dispatch import Signal

promoted = Signal()  # sender: ComparatorVersion; version and campaign: it is in use there from now on
