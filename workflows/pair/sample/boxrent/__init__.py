"""Invoices for storage boxes that are rented by the day."""

from boxrent.invoice import Contract, Invoice, invoices
from boxrent.money import format_cents, share
from boxrent.periods import Period, monthly

__all__ = ["Contract", "Invoice", "Period", "format_cents", "invoices", "monthly", "share"]
