// Package figure holds what figures share: the style, and how
// they are saved.
package figure
