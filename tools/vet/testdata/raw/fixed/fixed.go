package fixed

type Q43 int64
