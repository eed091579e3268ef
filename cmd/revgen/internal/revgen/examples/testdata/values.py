"""Writes values.json: functions and their first two derivatives to 25 digits.

Made with mpmath 1.4.1:  python values.py > values.json
"""
import json
from mpmath import mp, mpf, besselj, exp, log, loggamma, psi, power

mp.dps = 40


def text(*numbers):
    return [mp.nstr(mpf(n), 25) for n in numbers]


values = {"bessel": [], "exp": [], "log": [], "pow": [], "rising": []}
for nu in ["0", "1", "2", "5", "20", "0.5", "2.25", "7.9"]:
    for x in ["0.01", "0.75", "2", "5.5", "10", "15"]:
        n, v = mpf(nu), mpf(x)
        values["bessel"].append([nu, x] + text(*(besselj(n, v, k) for k in range(3))))
for x in ["-13.5", "-2.5", "-0.01", "0.3", "1", "4.75", "12.5"]:
    values["exp"].append([x] + text(*[exp(mpf(x))] * 3))
for x in ["0.001", "0.2", "0.99", "1.5", "3", "1000.25"]:
    v = mpf(x)
    values["log"].append([x] + text(log(v), 1 / v, -1 / v**2))
for x, p in [("0.5", "2.5"), ("3", "-1.25"), ("7.25", "3"), ("1.01", "100"), ("100", "0.5")]:
    v, e = mpf(x), mpf(p)
    values["pow"].append([x, p] + text(power(v, e), e * power(v, e - 1), log(v) * power(v, e)))
for x, n in [("1", 10), ("1", 25), ("0.5", 6), ("3.75", 100)]:
    v = mpf(x)
    values["rising"].append([x, str(n)] + text(loggamma(v + n) - loggamma(v), psi(0, v + n) - psi(0, v), psi(1, v + n) - psi(1, v)))
print(json.dumps(values, indent=0))
