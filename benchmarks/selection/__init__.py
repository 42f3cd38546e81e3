"""Measurements of trainings that are watched."""
