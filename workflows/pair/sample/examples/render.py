"""Writes what some contracts cost: run `python3 -m examples.render` in the folder above."""

from datetime import date
from pathlib import Path

from boxrent import Contract, format_cents, invoices

CONTRACTS = {
    "quarter": Contract(date(2026, 1, 15), date(2026, 4, 14), cents_per_day=125),
    "winter": Contract(date(2025, 12, 1), date(2026, 2, 28), cents_per_day=90),
}

for name, contract in CONTRACTS.items():
    bills = invoices(contract)
    total = format_cents(sum(invoice.total for invoice in bills))
    lines = [*map(str, bills), f"all of it: {total}"]
    Path(__file__).with_name(f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    print(f"{name}: {total}")
