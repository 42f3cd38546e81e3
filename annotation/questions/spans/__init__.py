"""Error spans (ESA, MQM): all that is this kind's alone."""
