import unittest

import spend

PURCHASES = [("2025-01-04", "food", 3120), ("2025-02-03", "rent", 64000), ("2025-02-08", "food", 4410)]


class Spend(unittest.TestCase):
    def test_amounts_are_read_as_cents(self):
        self.assertEqual([spend.cents(text) for text in ("18", "59.9", "31.20")], [1800, 5990, 3120])

    def test_the_last_line_is_the_total(self):
        self.assertEqual(spend.report(PURCHASES)[-1], "total 715.30")


if __name__ == "__main__":
    unittest.main()
