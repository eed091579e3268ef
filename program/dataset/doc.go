// Package dataset reads tables of numbers from CSV and .npy files.
package dataset
