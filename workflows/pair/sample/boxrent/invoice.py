"""What a contract costs, period by period."""

from dataclasses import dataclass
from datetime import date

from boxrent.money import format_cents, share
from boxrent.periods import Period, monthly

VAT_PERCENT = 19


@dataclass(frozen=True)
class Contract:
    """A box, rented from ``first`` to ``last``, both days included."""

    first: date
    last: date
    cents_per_day: int


@dataclass(frozen=True)
class Invoice:
    """The bill for one period, in cents."""

    period: Period
    net: int

    @property
    def vat(self) -> int:
        return share(self.net, VAT_PERCENT, 100)

    @property
    def total(self) -> int:
        return self.net + self.vat

    def __str__(self) -> str:
        period = self.period
        return f"{period.first} to {period.last}: {period.days} days, {format_cents(self.total)}"


def invoices(contract: Contract) -> list[Invoice]:
    """One invoice for each period of the contract."""
    return [
        Invoice(period, net=period.days * contract.cents_per_day)
        for period in monthly(contract.first, contract.last)
    ]
