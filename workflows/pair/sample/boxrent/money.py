"""Amounts of money, in whole cents."""


def share(cents: int, part: int, whole: int) -> int:
    """The amount that ``part`` of ``whole`` makes of ``cents``.

    Rounded to the nearest cent, half a cent up.

    >>> share(1000, 19, 100)
    190
    """
    if whole <= 0:
        raise ValueError("a whole is more than nothing")
    return round(cents * part / whole)


def format_cents(cents: int) -> str:
    """The amount as people write it.

    >>> format_cents(123456)
    '1,234.56'
    """
    sign = "-" if cents < 0 else ""
    euros, rest = divmod(abs(cents), 100)
    return f"{sign}{euros:,}.{rest:02d}"
