"""Comparators and judges in the REST API."""
