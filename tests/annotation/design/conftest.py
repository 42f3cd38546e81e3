"""Settings of the property tests."""

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # a slow machine is not a wrong result
settings.load_profile("no deadline")
