"""What was spent: python3 spend.py FILE"""

import csv
import sys


def read(path):
    """The purchases of a file, as (date, category, cents)."""
    with open(path, newline="", encoding="utf-8") as file:
        return [(row["date"], row["category"], cents(row["amount"])) for row in csv.DictReader(file)]


def cents(text):
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0"))


def money(cents):
    return f"{cents // 100}.{cents % 100:02}"


def report(purchases):
    """The lines of the report."""
    return ["total " + money(sum(cents for _, _, cents in purchases))]


if __name__ == "__main__":
    print("\n".join(report(read(sys.argv[1]))))
