"""The one way in which a measure of agreement can fail to exist."""


class UndefinedAgreement(ValueError):
    """These data give the measure no value; the message is one plain sentence saying why."""
