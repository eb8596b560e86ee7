"""The periods of a contract."""

from datetime import date, timedelta
from unittest import TestCase

from boxrent import Period, monthly


def days_of(period):
    return {period.first + timedelta(days=n) for n in range(period.days)}


class Monthly(TestCase):
    def test_less_than_a_month_is_one_period(self):
        first, last = date(2026, 1, 15), date(2026, 2, 3)
        self.assertEqual(monthly(first, last), [Period(first, last)])

    def test_a_contract_of_one_day(self):
        day = date(2026, 1, 15)
        self.assertEqual(monthly(day, day)[0].days, 1)

    def test_every_day_is_in_exactly_one_period(self):
        for last in (date(2026, 4, 14), date(2026, 4, 15), date(2026, 5, 2)):
            with self.subTest(last=last):
                periods = monthly(date(2026, 1, 15), last)
                covered = set().union(*map(days_of, periods))
                self.assertEqual(len(covered), (last - date(2026, 1, 15)).days + 1)
                self.assertEqual(sum(period.days for period in periods), len(covered))

    def test_a_short_month_does_not_shift_the_ones_after(self):
        periods = monthly(date(2026, 1, 31), date(2026, 6, 29))
        self.assertEqual(len(periods), 5)

    def test_an_end_before_the_beginning_is_refused(self):
        with self.assertRaises(ValueError):
            monthly(date(2026, 2, 1), date(2026, 1, 31))
