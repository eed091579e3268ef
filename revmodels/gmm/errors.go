package gmm

// Panic strings of misuse that gonum has no value for.
const (
	badGamma = "gmm: Gamma of the prior is negative or not finite"
	negM     = "gmm: M of the prior is negative"
)
