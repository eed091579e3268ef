package gmm

// Panic strings of misuse for which gonum has no value.
const (
	badGamma = "gmm: Gamma of the prior is negative or not finite"
	negM     = "gmm: M of the prior is negative"
)
