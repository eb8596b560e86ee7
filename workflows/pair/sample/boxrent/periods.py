"""The periods in which a contract is billed."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count


@dataclass(frozen=True)
class Period:
    """The days from ``first`` to ``last``, both of them included."""

    first: date
    last: date

    @property
    def days(self) -> int:
        """How many days are billed."""
        return (self.last - self.first + timedelta(days=1)).days


def add_months(day: date, months: int) -> date:
    """The same day ``months`` later, or the last one of that month if it is shorter."""
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def monthly(first: date, last: date) -> list[Period]:
    """The periods of a month each from ``first`` to ``last``.

    The last one may be shorter.
    """
    if last < first:
        raise ValueError("a contract ends before it begins")
    periods = []
    start = first
    for months in count(1):
        end = add_months(first, months)
        if end > last:
            periods.append(Period(start, last))
            return periods
        periods.append(Period(start, end))
        start = end
