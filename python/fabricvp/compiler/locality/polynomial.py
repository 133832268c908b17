# SPDX-License-Identifier: Apache-2.0
"""Polynomials with whole coefficients over the variables of an index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce


@dataclass(frozen=True, order=True)
class Variable:
    """A variable: an identifier of work-items ("bx"), a size ("gDimx"), a parameter, a loop's induction variable, or a
    function of others that is no polynomial ("(bx + tx)/n"). ``needs`` are names that its value depends on, its own
    unless it is such a function."""

    name: str
    needs: frozenset[str] = field(compare=False)

    @staticmethod
    def prime(name: str) -> Variable:
        """One that depends on nothing else."""
        return Variable(name, frozenset({name}))


Monomial = tuple[Variable, ...]


@dataclass(frozen=True)
class Polynomial:
    """A sum of products: coefficients by sorted variables."""

    terms: Mapping[Monomial, int]

    @staticmethod
    def number(value: int) -> Polynomial:
        """A constant."""
        return Polynomial({(): value} if value else {})

    @staticmethod
    def of(variable: Variable) -> Polynomial:
        """A variable alone."""
        return Polynomial({(variable,): 1})

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + factor
        return Polynomial({monomial: factor for monomial, factor in terms.items() if factor})

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                monomial = tuple(sorted((*a, *b)))
                terms[monomial] = terms.get(monomial, 0) + x * y
        return Polynomial({monomial: factor for monomial, factor in terms.items() if factor})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + Polynomial.number(-1) * other

    @property
    def needs(self) -> frozenset[str]:
        """All names that its value depends on."""
        return frozenset().union(*(variable.needs for monomial in self.terms for variable in monomial))

    def constant(self) -> int | None:
        """Its value if that is a number."""
        return self.terms.get((), 0) if self.terms.keys() <= {()} else None

    def divided(self, by: Polynomial) -> Polynomial | None:
        """The quotient by a single product, rounded down; None if it is no polynomial. What remains must be the product
        less one, as in the number of work-groups, (n + size - 1)/size."""
        if len(by.terms) != 1:
            return None
        for remainder in (Polynomial({}), by - Polynomial.number(1)):
            quotient = (self - remainder)._exactly(*next(iter(by.terms.items())))
            if quotient is not None:
                return quotient
        return None

    def _exactly(self, monomial: Monomial, factor: int) -> Polynomial | None:
        terms = {}
        for own, own_factor in self.terms.items():
            rest = list(own)
            for variable in monomial:
                if variable not in rest:
                    return None
                rest.remove(variable)
            if own_factor % factor:
                return None
            terms[tuple(rest)] = own_factor // factor
        return Polynomial(terms)

    def split(self, names: frozenset[str]) -> tuple[Polynomial, Polynomial]:
        """The terms that depend on none of these names, and those that do."""
        parts: tuple[dict[Monomial, int], dict[Monomial, int]] = {}, {}
        for monomial, factor in self.terms.items():
            parts[any(variable.needs & names for variable in monomial)][monomial] = factor
        return Polynomial(parts[0]), Polynomial(parts[1])

    def factor_of(self, name: str) -> Polynomial:
        """What a variable is multiplied with; nothing for terms that have it twice or inside a function."""
        terms = {}
        for monomial, factor in self.terms.items():
            inside = [variable for variable in monomial if name in variable.needs]
            if len(inside) == 1 and inside[0].name == name:
                terms[tuple(v for v in monomial if v is not inside[0])] = factor
        return Polynomial(terms)

    def replaced(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """With polynomials in the place of variables. Functions of variables stay as they are."""
        total = Polynomial({})
        for monomial, factor in self.terms.items():
            product = Polynomial.number(factor)
            for variable in monomial:
                product = product * values.get(variable.name, Polynomial.of(variable))
            total = total + product
        return total

    def renamed(self, names: Mapping[str, str]) -> Polynomial:
        """With other names for variables."""
        return self.replaced({name: Polynomial.of(Variable.prime(new)) for name, new in names.items()})

    def value(self, values: Mapping[str, int]) -> int | None:
        """Its value, if all variables have one."""
        total = 0
        for monomial, factor in self.terms.items():
            if not all(variable.name in values for variable in monomial):
                return None
            total += reduce(lambda product, variable: product * values[variable.name], monomial, factor)
        return total

    def text(self, unit: int = 1) -> str:
        """As a formula, in units of so many bytes if its coefficients are multiples of that."""
        whole = unit if all(factor % unit == 0 for factor in self.terms.values()) else 1
        out = ""
        for monomial, factor in self.terms.items():
            count = factor // whole
            names = "·".join(variable.name for variable in monomial)
            sign = ("-" if count < 0 else "") if not out else " - " if count < 0 else " + "
            number = "" if abs(count) == 1 and names else f"{abs(count)}·" if names else str(abs(count))
            out += f"{sign}{number}{names}"
        return (out or "0") + ("" if whole == unit else " bytes")
