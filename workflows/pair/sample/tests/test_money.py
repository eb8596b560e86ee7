"""Amounts of money."""

from unittest import TestCase

from boxrent import format_cents, share


class Share(TestCase):
    def test_a_part_that_comes_out_even(self):
        self.assertEqual(share(1000, 19, 100), 190)

    def test_less_than_half_a_cent_is_dropped(self):
        self.assertEqual(share(1001, 1, 3), 334)

    def test_half_a_cent_is_rounded_up(self):
        # 9.5 and 28.5: each of them goes to the cent above.
        self.assertEqual([share(50, 19, 100), share(150, 19, 100)], [10, 29])

    def test_a_whole_of_nothing_is_refused(self):
        with self.assertRaises(ValueError):
            share(1000, 1, 0)


class FormatCents(TestCase):
    def test_thousands_are_grouped(self):
        self.assertEqual(format_cents(123456), "1,234.56")

    def test_small_and_negative_amounts(self):
        self.assertEqual([format_cents(5), format_cents(-250)], ["0.05", "-2.50"])
