"""How a p-value is written, wherever it stands."""

LEVELS = (0.01, 0.025, 0.05)  # that readers and this product compare with


def p_value(p: float) -> str:
    """With three decimals, "0.042" or "< 0.001". More where it would look like a level that it is not: 0.0498 is not written
    0.050."""
    if p < 0.0005:
        return "< 0.001"
    rounded = (f"{p:.{digits}f}" for digits in range(3, 9))
    return next((written for written in rounded if p in LEVELS or float(written) not in LEVELS), f"{p:.3f}")


def p_is(p: float) -> str:
    """ "p = 0.042" or "p < 0.001"."""
    written = p_value(p)
    return f"p {written}" if written.startswith("<") else f"p = {written}"
