"""Invoices of a contract."""

from datetime import date
from unittest import TestCase

from boxrent import Contract, invoices


class Invoices(TestCase):
    def test_vat_and_total(self):
        contract = Contract(date(2026, 1, 15), date(2026, 1, 24), cents_per_day=125)
        [invoice] = invoices(contract)
        self.assertEqual((invoice.net, invoice.vat, invoice.total), (1250, 238, 1488))

    def test_a_quarter_costs_its_days(self):
        contract = Contract(date(2026, 1, 15), date(2026, 4, 14), cents_per_day=125)
        self.assertEqual(sum(invoice.net for invoice in invoices(contract)), 90 * 125)

    def test_an_invoice_is_readable(self):
        contract = Contract(date(2026, 3, 2), date(2026, 3, 11), cents_per_day=100)
        self.assertEqual(str(invoices(contract)[0]), "2026-03-02 to 2026-03-11: 10 days, 11.90")
