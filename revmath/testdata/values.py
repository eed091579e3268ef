"""Writes values.json: functions, and of Bessel functions two derivatives, to 25 digits.

Made with mpmath 1.3.0:  python values.py > values.json
"""
import json
from mpmath import mp, mpf, besselj, log

mp.dps = 40


def text(*numbers):
    return [mp.nstr(mpf(n), 25) for n in numbers]


values = {"bessel": [], "complexlog": []}
for nu in [0, 0.25, 1, 1.5, 2, 2.25, 3, 5, 7.875, 20, 33.25, 60, 100, 250.75, 1000]:
    for x in [
        1e-40, 1e-8, 0.0078125, 0.75, 2, 2.875, 3.5, 5.5, 10, 15, 16.125, 24.875, 25, 33.5, 50, 99.5,
        100, 101, 240, 252, 500, 990, 1000, 1010.5, 5000, 1e5, 1e8,
    ]:
        v = mpf(x)
        j = {k: besselj(mpf(nu) + k, v) for k in range(-2, 3)}
        values["bessel"].append([repr(nu), repr(x)] + text(j[0], (j[-1] - j[1]) / 2, (j[-2] - 2 * j[0] + j[2]) / 4))
for re, im in [("1", "2"), ("-3", "0.5"), ("-0.25", "-4"), ("1e-3", "1e3")]:
    z = log(mp.mpc(re, im))
    values["complexlog"].append([re, im] + text(z.real, z.imag))
print(json.dumps(values, indent=0))
