"""Prints what pydantic writes for a few types: `python print_pydantic.py > pydantic.json` (pydantic 2.13.4)."""

import datetime
import enum
import json
from decimal import Decimal
from typing import Annotated, Literal, Optional, Union

from pydantic import BaseModel, Field, TypeAdapter


class Currency(str, enum.Enum):
    eur = "EUR"
    usd = "USD"


class Line(BaseModel):
    sku: str = Field(pattern=r"^[A-Z]{2}-\d+$")
    quantity: int = Field(gt=0, description="How many.")


class Refund(BaseModel):
    """What is paid back."""

    order: int
    amount: float = Field(gt=0, le=500)
    currency: Currency = Currency.eur
    lines: list[Line] = []
    due: Optional[datetime.date] = None


class Price(BaseModel):
    net: Decimal
    gross: Decimal = Field(ge=0, max_digits=5, decimal_places=2)
    rates: dict[str, Optional[Decimal]] = {}


class Node(BaseModel):
    name: str
    children: list["Node"] = []
    twin: Optional["Node"] = None


class Number(BaseModel):
    kind: Literal["number"]
    value: float


class Sum(BaseModel):
    kind: Literal["sum"]
    left: "Expression"
    right: "Expression"


class Product(BaseModel):
    kind: Literal["product"]
    left: "Expression"
    right: "Expression"


Expression = Annotated[Union[Number, Sum, Product], Field(discriminator="kind")]


class Formula(BaseModel):
    root: Expression


Sum.model_rebuild()
Product.model_rebuild()
Formula.model_rebuild()

printed = {model.__name__: model.model_json_schema() for model in (Refund, Price, Node, Formula)}
printed["Currency"] = TypeAdapter(Currency).json_schema()
printed["Lines"] = TypeAdapter(list[Line]).json_schema()
print(json.dumps(printed, indent=1))
