"""Writes the sample case of the workflow `compliance` into the folder that is named: everyday transactions with planted
cases. All names are those of plants. Standard library alone; the same bytes each time."""
import csv
import datetime
import pathlib
import sys

CUSTOMERS = [
    # id, name, birth date, country, pep, account
    ("C-1001", "Ash Hawthorn", "1971-04-02", "DE", "no", "DE02120300000000202051"),
    ("C-1002", "Rowan Elder", "1985-11-23", "DE", "no", "DE02500105170137075030"),
    ("C-1003", "Linde Weißdorn", "1990-07-14", "AT", "no", "AT026000000001349870"),
    ("C-1004", "Olive Juniper", "1968-01-30", "FR", "yes", "FR1420041010050500013M02606"),
    ("C-1005", "Hazel Larch", "1979-09-09", "DE", "no", "DE02100500000054540402"),
    ("C-1006", "Jasmin Tamariske", "1982-12-01", "NL", "no", "NL91ABNA0417164300"),
    ("C-1007", "Cedar Mallow", "1995-05-17", "DE", "no", "DE02300209000106531065"),
    ("C-1008", "Viorel Gențiană", "1974-03-03", "RO", "no", "RO49AAAA1B31007593840000"),
    ("C-1009", "Sorrel Yarrow", "1988-08-28", "IE", "no", "IE29AIBK93115212345678"),
    ("C-1010", "Aster Bramble", "1963-10-12", "BE", "no", "BE68539007547034"),
    ("C-1011", "Heather Tansy", "1999-02-05", "DE", "no", "DE02200505501015871393"),
    ("C-1012", "Myrtle Privet", "1977-06-21", "CH", "no", "CH9300762011623852957"),
]
WATCHED = [
    # id, name, aliases, birth date, list
    ("W-1", "Gentiana, Viorel", "Viorel Gentian|V. Gentianus", "1974-03-03", "sanctions"),
    ("W-2", "Nightshade Holdings", "Nightshade Trading FZE", "", "sanctions"),
    ("W-3", "Hemlock Oleander", "", "1950-05-05", "sanctions"),
    ("W-4", "Aster Bramblé", "", "1931-01-01", "pep"),
    ("W-5", "Foxglove Digitalis", "", "1966-06-06", "pep"),
]
SHOPS = [("Meadow Grocers", "DE"), ("Fern Pharmacy", "DE"), ("Clover Energy", "DE"), ("Ivy Insurance", "AT"),
         ("Moss Books", "FR"), ("Reed Telecom", "NL"), ("Sedge Rentals", "BE")]


class Draw:
    """A sequence that is the same everywhere."""

    def __init__(self, seed):
        self.state = seed

    def below(self, most):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % most


def transactions():
    draw, rows = Draw(20260331), []

    def add(day, clock, customer, direction, kind, amount, currency, other, country):
        at = datetime.datetime(2026, 1, 1) + datetime.timedelta(days=day, minutes=clock)
        rows.append((at.strftime("%Y-%m-%dT%H:%M:00Z"), customer, direction, kind, amount, currency, other, country))

    for number, customer in enumerate(CUSTOMERS):
        for month in range(3):
            add(month * 30 + 1, 480, customer[0], "in", "transfer", "%d.%02d" % (1800 + draw.below(1400), draw.below(100)),
                "EUR", "Thistle Payroll", customer[3])
            for _ in range(3):
                shop, country = SHOPS[draw.below(len(SHOPS))]
                add(month * 30 + 2 + draw.below(27), 540 + draw.below(600), customer[0], "out", "card",
                    "%d.%02d" % (8 + draw.below(190), draw.below(100)), "EUR", shop, country)
    # Cash below the amount that is reported, on four days of a week.
    for day, amount in ((40, "3800.00"), (41, "2950.00"), (43, "3400.00"), (45, "2700.00")):
        add(day, 600, "C-1001", "in", "cash", amount, "EUR", "", "DE")
    # Cash above it, once in another currency.
    add(50, 615, "C-1002", "in", "cash", "12500.00", "EUR", "", "DE")
    add(61, 700, "C-1012", "out", "cash", "11200.00", "CHF", "", "CH")
    # Money that comes in and leaves again.
    add(55, 600, "C-1005", "in", "transfer", "9400.00", "USD", "Bracken Imports", "US")
    add(55, 1300, "C-1005", "out", "transfer", "8300.00", "EUR", "Sorghum Freight", "TR")
    # Round amounts.
    for day, amount in ((20, "2000.00"), (23, "3000.00"), (26, "1000.00"), (31, "4000.00")):
        add(day, 660, "C-1006", "out", "transfer", amount, "EUR", "Lupin Consulting", "AE")
    # Many within a day.
    for hour in range(9):
        add(70, 540 + hour * 50, "C-1007", "out", "transfer", "%d.00" % (610 + 13 * hour), "EUR", "Vetch Tickets", "PL")
    # A high-risk jurisdiction, and a novel technique.
    add(33, 720, "C-1009", "out", "transfer", "1450.00", "EUR", "Saffron Carpets", "IR")
    add(74, 730, "C-1011", "out", "crypto", "2300.00", "EUR", "Poppy Exchange", "DE")
    # A counterparty whose name is like one of the sanctions list.
    add(80, 750, "C-1003", "out", "transfer", "4875.50", "EUR", "Nightshade Holding", "AE")
    rows.sort()
    return [("T-%04d" % number, *row) for number, row in enumerate(rows, 1)]


def write(folder, name, header, rows):
    with open(folder / name, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
write(folder, "customers.csv", ("id", "name", "birth_date", "country", "pep", "account"), CUSTOMERS)
write(folder, "watchlist.csv", ("id", "name", "aliases", "birth_date", "list"), WATCHED)
write(folder, "transactions.csv",
      ("id", "time", "customer", "direction", "kind", "amount", "currency", "counterparty", "country"), transactions())
