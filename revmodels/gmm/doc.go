// Package gmm fits and differentiates Gaussian mixture models.
package gmm
