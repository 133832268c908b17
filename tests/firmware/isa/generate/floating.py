# SPDX-License-Identifier: Apache-2.0
"""F and D by IEEE 754 and the unprivileged specification, on exact fractions."""

from fractions import Fraction
from math import isqrt

NX, UF, OF, DZ, NV = 1, 2, 4, 8, 16
RNE, RTZ, RDN, RUP, RMM = range(5)
ROUNDING = ["rne", "rtz", "rdn", "rup", "rmm"]


class form:
    """A binary format and its operations; every operation returns (bits, flags)."""

    def __init__(self, width, precision):
        self.width, self.precision = width, precision
        self.bias = (1 << (width - precision - 1)) - 1
        self.fraction = precision - 1
        self.sign = 1 << (width - 1)
        self.infinity = ((1 << (width - precision)) - 1) << self.fraction
        self.nan = self.infinity | 1 << (self.fraction - 1)
        self.smallest_exponent = 1 - self.bias

    def is_nan(self, a):
        return a & ~self.sign > self.infinity

    def is_signaling(self, a):
        return self.is_nan(a) and not a >> (self.fraction - 1) & 1

    def is_infinite(self, a):
        return a & ~self.sign == self.infinity

    def is_zero(self, a):
        return a & ~self.sign == 0

    def negative(self, a):
        return bool(a & self.sign)

    def number(self, a):
        e = (a & ~self.sign) >> self.fraction
        m = a & ((1 << self.fraction) - 1)
        if e:
            m |= 1 << self.fraction
        value = Fraction(m) * Fraction(2) ** ((e or 1) - self.bias - self.fraction)
        return -value if self.negative(a) else value

    def round(self, value, rm):
        """Rounds a non-zero fraction."""
        negative, v = value < 0, abs(value)
        e = v.numerator.bit_length() - v.denominator.bit_length()
        if v < Fraction(2) ** e:
            e -= 1
        unbounded = self._quantise(v, e - self.fraction, rm, negative)
        tiny = unbounded < Fraction(2) ** self.smallest_exponent
        result = self._quantise(v, max(e, self.smallest_exponent) - self.fraction, rm, negative)
        flags = 0 if result == v else NX | (UF if tiny else 0)
        sign = self.sign if negative else 0
        if result >= Fraction(2) ** (self.bias + 1):
            away = rm in (RNE, RMM) or (rm == RDN and negative) or (rm == RUP and not negative)
            return sign | (self.infinity if away else self.infinity - 1), OF | NX
        return sign | self._encode(result), flags

    def _quantise(self, v, exponent, rm, negative):
        unit = Fraction(2) ** exponent
        units, rest = divmod(v, unit)
        double = 2 * rest
        up = {
            RNE: double > unit or (double == unit and units % 2),
            RTZ: False,
            RDN: negative and rest,
            RUP: not negative and rest,
            RMM: double >= unit,
        }[rm]
        return (units + bool(up)) * unit

    def _encode(self, v):
        if v == 0:
            return 0
        e = v.numerator.bit_length() - v.denominator.bit_length()
        if v < Fraction(2) ** e:
            e -= 1
        if e < self.smallest_exponent:
            return int(v / Fraction(2) ** (self.smallest_exponent - self.fraction))
        significand = int(v / Fraction(2) ** (e - self.fraction))
        return (e + self.bias - 1 << self.fraction) + significand

    def _signed_zero(self, negative):
        return (self.sign if negative else 0), 0

    def _nan_of(self, *operands):
        return self.nan, NV if any(map(self.is_signaling, operands)) else 0

    def add(self, a, b, rm):
        if self.is_nan(a) or self.is_nan(b):
            return self._nan_of(a, b)
        if self.is_infinite(a) or self.is_infinite(b):
            if self.is_infinite(a) and self.is_infinite(b) and a != b:
                return self.nan, NV
            return (a if self.is_infinite(a) else b), 0
        if self.is_zero(a) and self.is_zero(b) and a == b:
            return a, 0
        total = self.number(a) + self.number(b)
        return self.round(total, rm) if total else self._signed_zero(rm == RDN)

    def sub(self, a, b, rm):
        return self.add(a, b ^ self.sign, rm)

    def mul(self, a, b, rm):
        if self.is_nan(a) or self.is_nan(b):
            return self._nan_of(a, b)
        negative = self.negative(a) != self.negative(b)
        if self.is_infinite(a) or self.is_infinite(b):
            if self.is_zero(a) or self.is_zero(b):
                return self.nan, NV
            return self._signed_zero(negative)[0] | self.infinity, 0
        product = self.number(a) * self.number(b)
        return self.round(product, rm) if product else self._signed_zero(negative)

    def div(self, a, b, rm):
        if self.is_nan(a) or self.is_nan(b):
            return self._nan_of(a, b)
        sign = (a ^ b) & self.sign
        if self.is_infinite(a):
            return (self.nan, NV) if self.is_infinite(b) else (sign | self.infinity, 0)
        if self.is_infinite(b):
            return sign, 0
        if self.is_zero(b):
            return (self.nan, NV) if self.is_zero(a) else (sign | self.infinity, DZ)
        quotient = self.number(a) / self.number(b)
        return self.round(quotient, rm) if quotient else (sign, 0)

    def sqrt(self, a, rm):
        if self.is_nan(a):
            return self._nan_of(a)
        if self.is_zero(a):
            return a, 0
        if self.negative(a):
            return self.nan, NV
        if self.is_infinite(a):
            return a, 0
        v = self.number(a)
        scale = 4**400 if self.width == 32 else 4**1400
        n = v * scale  # an integer with far more bits than the result needs
        root = isqrt(int(n))
        exact = root * root == n
        # Half a unit beyond the floor stands for the rest, which can be no tie.
        return self.round((Fraction(root) + (0 if exact else Fraction(1, 2))) / isqrt(scale), rm)

    def fma(self, a, b, c, rm):
        undefined = (self.is_infinite(a) and self.is_zero(b)) or (self.is_zero(a) and self.is_infinite(b))
        if self.is_nan(a) or self.is_nan(b) or self.is_nan(c):
            bits, flags = self._nan_of(a, b, c)
            return bits, flags | (NV if undefined else 0)
        if undefined:
            return self.nan, NV
        negative = self.negative(a) != self.negative(b)
        if self.is_infinite(a) or self.is_infinite(b):
            if self.is_infinite(c) and self.negative(c) != negative:
                return self.nan, NV
            return (self.sign if negative else 0) | self.infinity, 0
        if self.is_infinite(c):
            return c, 0
        total = self.number(a) * self.number(b) + self.number(c)
        if total:
            return self.round(total, rm)
        zeros = (self.is_zero(a) or self.is_zero(b)) and self.is_zero(c) and self.negative(c) == negative
        return self._signed_zero(negative if zeros else rm == RDN)

    def _order(self, a, b):
        """(a < b, a == b) of numbers."""

        def key(x):
            if self.is_infinite(x):
                return Fraction(2) ** 5000 * (-1 if self.negative(x) else 1)
            return self.number(x)

        return key(a) < key(b), key(a) == key(b)

    def feq(self, a, b):
        if self.is_nan(a) or self.is_nan(b):
            return 0, self._nan_of(a, b)[1]
        return int(self._order(a, b)[1]), 0

    def flt(self, a, b):
        if self.is_nan(a) or self.is_nan(b):
            return 0, NV
        return int(self._order(a, b)[0]), 0

    def fle(self, a, b):
        if self.is_nan(a) or self.is_nan(b):
            return 0, NV
        return int(any(self._order(a, b))), 0

    def _extreme(self, a, b, smaller):
        flags = self._nan_of(a, b)[1]
        if self.is_nan(a) and self.is_nan(b):
            return self.nan, flags
        if self.is_nan(a) or self.is_nan(b):
            return (b if self.is_nan(a) else a), flags
        below, same = self._order(a, b)
        if same:  # zeros of both signs
            below = self.negative(a)
        return (a if below == smaller else b), flags

    def fmin(self, a, b):
        return self._extreme(a, b, True)

    def fmax(self, a, b):
        return self._extreme(a, b, False)

    def fsgnj(self, a, b):
        return a & ~self.sign | b & self.sign, 0

    def fsgnjn(self, a, b):
        return a & ~self.sign | ~b & self.sign, 0

    def fsgnjx(self, a, b):
        return a ^ b & self.sign, 0

    def classify(self, a):
        if self.is_nan(a):
            return 1 << (8 if self.is_signaling(a) else 9)
        m = a & ~self.sign
        kind = 0 if not m else 1 if not m >> self.fraction else 2 if m < self.infinity else 3
        return 1 << (3 - kind if self.negative(a) else 4 + kind)

    def to_integer(self, a, low, high, rm):
        if self.is_nan(a) or a == self.infinity:
            return high, NV
        if self.is_infinite(a):
            return low, NV
        v = self.number(a)
        i = int(self._quantise(abs(v), 0, rm, v < 0)) * (-1 if v < 0 else 1)
        if not low <= i <= high:
            return (low if i < low else high), NV
        return i, 0 if i == v else NX

    def from_integer(self, i, rm):
        return self.round(Fraction(i), rm) if i else (0, 0)

    def convert(self, a, to, rm):
        if self.is_nan(a):
            return to.nan, NV if self.is_signaling(a) else 0
        sign = to.sign if self.negative(a) else 0
        if self.is_infinite(a):
            return sign | to.infinity, 0
        return to.round(self.number(a), rm) if not self.is_zero(a) else (sign, 0)

    def operands(self, random):
        """Special values now and then, neighbours in magnitude mostly."""
        special = [
            0,
            1,
            (1 << self.fraction) - 1,
            1 << self.fraction,
            self.infinity - 1,
            self.infinity,
            self.nan,
            self.infinity | 1,
            self.bias << self.fraction,
            self.nan | 5,
        ]
        last = self.bias
        while True:
            sign = self.sign if random.random() < 0.5 else 0
            if random.random() < 0.25:
                yield sign | random.choice(special)
                continue
            if random.random() < 0.2:
                last = random.randrange(1 << (self.width - self.precision))
            elif random.random() < 0.3:
                last = self.bias + random.randrange(-40, 40)
            e = min(max(last + random.randrange(-3, 4), 0), (self.infinity >> self.fraction) - 1)
            m = random.getrandbits(self.fraction)
            if random.random() < 0.4:
                m &= -1 << random.randrange(self.fraction)
            yield sign | e << self.fraction | m


SINGLE = form(32, 24)
DOUBLE = form(64, 53)
