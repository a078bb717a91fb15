"""Three shipping methods with fixed prices."""

from decimal import Decimal

from oscar.apps.shipping import methods, repository
from oscar.core import prices

FREE_FROM = Decimal("75.00")


class Standard(methods.Base):
    """Standard shipping: a flat charge, nothing from a certain basket value on."""

    code = "standard"
    name = "Standard shipping"
    description = f"Arrives in 4 to 6 working days. Free for orders of ${FREE_FROM} and more."
    charge = Decimal("5.95")

    def calculate(self, basket):
        charge = Decimal("0.00") if basket.total_incl_tax >= FREE_FROM else self.charge
        return prices.Price(currency=basket.currency, excl_tax=charge, incl_tax=charge)


class Express(methods.FixedPrice):
    code = "express"
    name = "Express shipping"
    description = "Arrives within 2 working days."
    charge_excl_tax = charge_incl_tax = Decimal("14.95")


class Overnight(methods.FixedPrice):
    code = "overnight"
    name = "Overnight shipping"
    description = "Arrives on the next working day."
    charge_excl_tax = charge_incl_tax = Decimal("29.95")


class Repository(repository.Repository):
    """The first method is the one the basket page reckons with."""

    methods = (Standard(), Express(), Overnight())
