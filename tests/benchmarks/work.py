"""Parts of a study that another process can load at once."""

import os


def multiplied(a, b, found, place):
    return {"value": a * b, "process": os.getpid()}


def summed(found, place):
    return {"value": sum(one["value"] for one in found.values())}
